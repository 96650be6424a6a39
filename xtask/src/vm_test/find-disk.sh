#!/bin/sh
# find-disk SERIAL [NAMESPACE]: the kernel's name of a disk. Written without our own code, because that is
# what is being tested.
for disk in /sys/block/*; do
    name=${disk##*/}
    case $name in loop* | nvme*c*n*) continue ;; esac
    serial=$(cat "$disk/device/serial" 2>/dev/null ||
        cat "$disk/serial" 2>/dev/null ||
        tail -c +5 "$disk/device/vpd_pg80" 2>/dev/null | tr -d '\0')
    [ "$(echo $serial)" = "$1" ] || continue
    [ -z "$2" ] || [ "$(cat "$disk/nsid")" = "$2" ] || continue
    echo "$name"
    exit 0
done
exit 1
