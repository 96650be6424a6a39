# Sets up a host with the units, in separate namespaces, for scripts that are called with DIR PROGRAM UNITS. DIR/lib is
# its /var/lib, and the user and the group plateau have the number 64711.
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
