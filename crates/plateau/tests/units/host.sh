# Runs the server and its launcher on a host with the units: host.sh DIR PROGRAM UNITS.
set -e
DIR=$1 PROGRAM=$2 UNITS=$3
export UNITS
. "$(dirname "$0")/common.sh"
# plateau-launcher.socket and plateau-launcher@.service.
mkdir -m 755 /run/plateau
launcher=$(sed -n 's#^ExecStart=/usr/bin/plateau#/run/program#p' "$UNITS/plateau-launcher@.service")
(umask 027; exec setpriv --regid plateau --clear-groups systemd-socket-activate --accept --inetd \
  -l /run/plateau/launcher.sock -- $launcher) >"$DIR/launcher.log" 2>&1 &
until [ -S /run/plateau/launcher.sock ]; do sleep 0.05; done
chgrp plateau /run/plateau/launcher.sock
chmod 660 /run/plateau/launcher.sock
# plateau-serve.service: StateDirectory, ExecStartPre, and the rest in a separate mount namespace.
install -d -o plateau -g plateau -m 750 /var/lib/plateau-serve
sed -n 's/^ExecStartPre=+//p' "$UNITS/plateau-serve.service" >/run/before
sh -e /run/before
unshare --mount --propagation private \
  sh -e "$(dirname "$0")/service.sh" plateau-serve /var/lib/plateau-serve --listen 127.0.0.1:0 &
wait $!
