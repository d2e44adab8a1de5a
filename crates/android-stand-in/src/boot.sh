# Makes the root of the phone and becomes its first process. Runs in user, network, mount and process namespaces of its own.
# Arguments: a folder for the tests' sockets, the unpacked packages, the program, and the program's arguments.
set -eu
work=$1 parts=$2 program=$3
shift 3
root=$work/root
mkdir -p "$root"
mount -t tmpfs -o mode=755 phone "$root"
cd "$root"
mkdir -p dev/pts dev/socket proc tmp etc usr system/bin data apex
ln -s usr/lib lib
ln -s usr/lib64 lib64
ln -s system/bin bin
mount --bind "$parts/adbd/usr" usr
mount -o remount,bind,ro usr
mount --bind "$work" dev/socket
for device in null zero full random urandom tty; do
    : >"dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
# A container may not allow a new one.
mount -t proc proc proc 2>/dev/null || mount --rbind /proc proc
# A small disk, so that a test can fill it.
mount -t tmpfs -o size=300m,mode=771 data data
mkdir -p data/local/tmp data/media/0/Download data/misc/adb
ln -s data/media/0 sdcard
printf 'root:x:0:0:root:/data:/bin/sh\nshell:x:2000:2000:shell:/data:/bin/sh\n' >etc/passwd
printf 'root:x:0:\nshell:x:2000:\n' >etc/group

ln -s /usr/bin/mksh-static system/bin/sh
: >system/bin/android-stand-in
mount --bind "$program" system/bin/android-stand-in
exec chroot "$root" /system/bin/android-stand-in boot "$@"
