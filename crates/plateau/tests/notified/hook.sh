#!/bin/sh
# Appends the notice to the file "notices" in the folder $1. If that folder contains a file "wait", first waits until it is
# removed.
echo "$PLATEAU_EVENT" >>"$1/begun"
while [ -e "$1/wait" ]; do sleep 0.05; done
env | grep ^PLATEAU_ | sort >"$1/environment"
cat >>"$1/notices"
