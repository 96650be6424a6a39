# Runs plateau-notify.service on a host with the units: notify.sh DIR PROGRAM UNITS. DIR/notify.toml is its configuration, and
# DIR/token a secret that root shares with the group of the service.
set -e
DIR=$1 PROGRAM=$2 UNITS=$3
export UNITS
. "$(dirname "$0")/common.sh"
mkdir -m 755 /run/plateau
install -m 644 "$DIR/notify.toml" /run/plateau/notify.toml
install -g plateau -m 640 "$DIR/token" /run/plateau/token
install -d -o plateau -g plateau -m 750 /var/lib/plateau-notify
sed -n 's/^ExecStartPre=+//p' "$UNITS/plateau-notify.service" >/run/before
sh -e /run/before
# Root's launcher creates runs with this group and mask.
(read -r _ && umask 027 && exec setpriv --regid plateau --clear-groups /run/program --library /var/lib/plateau/runs \
  --quiet run iops sim:sas-slc-2011 --scale=1/1024 --max-rounds=5) <&3 >"$DIR/run.log" 2>&1 &
unshare --mount --propagation private sh -e "$(dirname "$0")/service.sh" plateau-notify /var/lib/plateau-notify 3<&- &
wait $!
