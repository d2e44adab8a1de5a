# Makes the root of the phone and becomes its first process. Runs in user, network, mount and process namespaces of its own.
# Arguments: a folder for the tests' sockets, the unpacked packages, the program, an emulator of ARM or nothing, and the program's arguments.
set -eu
work=$1 parts=$2 program=$3 emulator=$4
shift 4
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
# The kernel runs programs for 64-bit ARM in the emulator, in these namespaces only. It keeps the emulator open.
if [ -n "$emulator" ]; then
    mount -t binfmt_misc none proc/sys/fs/binfmt_misc
    magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":aarch64:M::$magic:$mask:$emulator:F" >proc/sys/fs/binfmt_misc/register
fi
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
