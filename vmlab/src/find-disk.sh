#!/bin/sh
# find-disk SERIAL [NAMESPACE]: prints the kernel's name of a disk. Does not use Plateau, because Plateau is under
# test. Uses shell builtins where possible, because starting a program is slow on an emulated CPU.
for disk in /sys/block/*; do
    name=${disk##*/}
    case $name in loop* | nvme*c*n*) continue ;; esac
    serial=
    if [ -r "$disk/device/serial" ]; then
        read -r serial <"$disk/device/serial"
    elif [ -r "$disk/serial" ]; then
        read -r serial <"$disk/serial"
    elif [ -r "$disk/device/vpd_pg80" ]; then
        serial=$(echo $(tail -c +5 "$disk/device/vpd_pg80" | tr -d '\0'))
    fi
    [ "$serial" = "$1" ] || continue
    if [ -n "$2" ]; then
        read -r namespace <"$disk/nsid"
        [ "$namespace" = "$2" ] || continue
    fi
    echo "$name"
    exit 0
done
exit 1
