# What systemd does for a unit: service.sh NAME STATE [OPTION]... ProtectSystem=strict with StateDirectory and
# ReadWritePaths, ProtectHome, PrivateTmp, User, NoNewPrivileges and CapabilityBoundingSet. Then it becomes the service.
# IDS has the options of setpriv for a user other than plateau.
unit=$UNITS/$1.service
writable="$2 $(sed -n 's/^ReadWritePaths=-\{0,1\}//p' "$unit")"
shift 2
start=$(sed -n -e 's#/etc/plateau/#/run/plateau/#' -e 's#${CREDENTIALS_DIRECTORY}#/run/credentials#' \
  -e 's#^ExecStart=/usr/bin/plateau#/run/program#p' "$unit")
state=$(sed -n 's/^Environment=//p' "$unit")
# Without an EnvironmentFile, the variable is empty.
start=${start% \$PLATEAU_*_OPTIONS}
for path in $writable; do mount --bind "$path" "$path"; done
for point in $(cut -d' ' -f5 /proc/self/mountinfo | sort -u); do
  case " $writable " in *" $point "*) continue ;; esac
  case $point in /dev | /dev/* | /proc | /proc/* | /sys | /sys/*) continue ;; esac
  mount -o remount,bind,ro "$point" 2>/dev/null || true
done
for path in / /run /var/lib/plateau /var/lib/plateau/runs; do
  if touch "$path/probe" 2>/dev/null; then
    echo "$path is writable"
    exit 1
  fi
done
for path in /root /home; do mount -t tmpfs -o mode=0 tmpfs "$path"; done
mount -t tmpfs -o mode=1777 tmpfs /tmp
cd /
exec setpriv ${IDS:---reuid plateau --regid plateau --clear-groups} --no-new-privs --bounding-set=-all --inh-caps=-all \
  env -i PATH=/usr/bin:/bin $state $start "$@"
