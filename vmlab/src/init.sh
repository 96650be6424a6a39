#!/bin/busybox sh
# Process 1 of the guest: loads the modules, then executes commands from the second serial line, one per line.
# Replies with "@done CODE BYTES BYTES", followed by standard output and standard error, byte for byte.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /runs /mnt
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp NO_COLOR=1 PLATEAU_LIBRARY=/runs/library PLATEAU_STATE=/runs/state
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp

for module in $(cat /modules/order); do
    # Unlike modprobe, insmod ignores module parameters on the kernel command line.
    insmod "/modules/$module.ko" $(tr ' ' '\n' </proc/cmdline | sed -n "s/^$module\.//p") || echo "init: $module does not load" >/dev/console
done

line=/dev/ttyS1
stty -F "$line" raw -echo
exec 3<>"$line"
echo '@ready' >&3
while true; do
    read -r command <&3 || continue
    sh -c "$command" </dev/null >/tmp/out 2>/tmp/err 3<&-
    echo "@done $? $(wc -c </tmp/out) $(wc -c </tmp/err)" >&3
    cat /tmp/out /tmp/err >&3
done
