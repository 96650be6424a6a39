# plateau-forward.service on a host with the units: forward.sh DIR PROGRAM UNITS. DIR/token is its token, and the file
# DIR/server contains the address of the server.
set -e
DIR=$1 PROGRAM=$2 UNITS=$3
export UNITS
. "$(dirname "$0")/common.sh"
# DynamicUser and LoadCredential: a user that has no name, and a copy that only this user can read.
install -d -o 64712 -g 64712 -m 500 /run/credentials
install -o 64712 -g 64712 -m 400 "$DIR/token" /run/credentials/token
sed -n 's/^ExecStartPre=+//p' "$UNITS/plateau-forward.service" >/run/before
sh -e /run/before
# Root's launcher creates runs with this group and mask.
(umask 027 && exec setpriv --regid plateau --clear-groups /run/program --library /var/lib/plateau/runs \
  --quiet run iops sim:sas-slc-2011 --scale=1/1024 --max-rounds=5) >"$DIR/run.log" 2>&1
# A run that root has kept to itself.
mkdir -m 700 /var/lib/plateau/runs/private
server=$(cat "$DIR/server")
ids="--reuid 64712 --regid 64712 --groups $(sed -n 's/^SupplementaryGroups=//p' "$UNITS/plateau-forward.service")"
# StateDirectory, and a user who may read the metrics.
state=/var/lib/$(sed -n 's/^StateDirectory=//p' "$UNITS/plateau-forward.service")
install -d -o 64712 -g 64712 -m "$(sed -n 's/^StateDirectoryMode=//p' "$UNITS/plateau-forward.service")" "$state"
setting=$(sed -n 's/^Environment=//p' "$UNITS/plateau-forward.service")
echo 'a long password' | setpriv --reuid 64712 --regid 64712 --clear-groups env "$setting" \
  /run/program user add prometheus --role viewer >"$DIR/user.log" 2>&1
IDS=$ids unshare --mount --propagation private sh -e "$(dirname "$0")/service.sh" plateau-forward "$state" --to "$server" \
  --listen 127.0.0.1:0 &
wait $!
