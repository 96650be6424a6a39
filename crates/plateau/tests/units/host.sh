# A host with the units, in namespaces of its own: host.sh DIR PROGRAM UNITS. DIR/lib is its /var/lib, and user and group
# plateau have the number 64711.
set -e
DIR=$1 PROGRAM=$2 UNITS=$3
export UNITS
mount -t tmpfs -o mode=755 tmpfs /run
touch /run/program
mount --bind "$PROGRAM" /run/program
cp /etc/passwd /etc/group "$DIR"
echo 'plateau:x:64711:64711::/:/usr/sbin/nologin' >>"$DIR/passwd"
echo 'plateau:x:64711:' >>"$DIR/group"
chmod 644 "$DIR/passwd" "$DIR/group"
mount --bind "$DIR/passwd" /etc/passwd
mount --bind "$DIR/group" /etc/group
mkdir -m 755 "$DIR/lib"
mount --bind "$DIR/lib" /var/lib
# plateau-launcher.socket and plateau-launcher@.service.
mkdir -m 755 /run/plateau
launcher=$(sed -n 's#^ExecStart=/usr/bin/plateau#/run/program#p' "$UNITS/plateau-launcher@.service")
(umask 027; exec setpriv --regid plateau --clear-groups systemd-socket-activate --accept --inetd \
  -l /run/plateau/launcher.sock -- $launcher) >"$DIR/launcher.log" 2>&1 &
until [ -S /run/plateau/launcher.sock ]; do sleep 0.05; done
chgrp plateau /run/plateau/launcher.sock
chmod 660 /run/plateau/launcher.sock
# plateau-serve.service: StateDirectory, ExecStartPre, and the rest in a mount namespace of its own.
install -d -o plateau -g plateau -m 750 /var/lib/plateau-serve
sed -n 's/^ExecStartPre=+//p' "$UNITS/plateau-serve.service" >/run/before
sh -e /run/before
unshare --mount --propagation private sh -e "$(dirname "$0")/service.sh" &
wait $!
