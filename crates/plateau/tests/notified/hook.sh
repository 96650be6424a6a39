#!/bin/sh
# Appends the notice to the file notices in the folder $1. With a file "wait" there, it first waits until that is gone.
echo "$PLATEAU_EVENT" >>"$1/begun"
while [ -e "$1/wait" ]; do sleep 0.05; done
env | grep ^PLATEAU_ | sort >"$1/environment"
cat >>"$1/notices"
