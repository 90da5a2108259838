/** Tier 3: programs that are off the allow list for a reason worth telling the person who is asked. */
import { type Rule, risky } from './rule.ts';

const privilege = risky('danger.privilege', 3, 'The command runs with the rights of another user.', [
  'sudo ping 10.0.0.1',
  'doas arp -a',
  'su root -c id',
  'pkexec ping x',
]);
const shell = risky(
  'danger.shell',
  3,
  'The command is handed to a shell or an interpreter, which can do anything.',
  ["bash -c 'dig example.com'", 'sh x.sh', 'eval id', "python3 -c 'print(1)'", '. /tmp/x.sh', 'ss -t | sh'],
  ['curl https://example.com/bin/sh'],
);
const wrapper = risky('danger.wrapper', 3, 'The program runs another command, with settings of its own.', [
  'env ping 10.0.0.1',
  'timeout 5 ss -t',
  'xargs dig example.com',
  'nohup ss',
  'command ping x',
  'watch -n 1 ss',
  'exec ping x',
  'busybox ping x',
]);
const destroys = risky(
  'danger.destroy',
  3,
  'The command deletes, moves or overwrites files, or ends processes.',
  [
    'rm /tmp/x',
    'mv a b',
    'chmod 644 x',
    'kill 1234',
    'killall nginx',
    'dd if=a of=b',
    'shred x',
    'truncate -s 0 x',
  ],
);
const writes = risky('danger.write', 3, 'The command writes files or changes settings of the machine.', [
  'tee x',
  'cp a b',
  'mkdir x',
  'sysctl -w a=b',
  'iptables -F',
  'systemctl restart x',
  'mount /x',
  'crontab x',
]);
const reads = risky('danger.read-file', 3, 'The command reads files; a person decides about each of them.', [
  'cat /etc/resolv.conf',
  'head x',
  'grep root /etc/passwd',
  'ss | grep x',
  'less x',
  'base64 x',
]);
const transfers = risky(
  'danger.transfer',
  3,
  'The command can carry data to or from another machine, or run commands there.',
  [
    'ssh host',
    'nc example.com 80',
    'wget http://x',
    'scp a b:c',
    'rsync a b',
    'docker run x',
    'kubectl get pods',
    'nmap 10.0.0.1',
  ],
);
const installs = risky('danger.install', 3, 'The command installs or fetches software.', [
  'apt install x',
  'pip install x',
  'npm i x',
  'git clone x',
  'dpkg -i x.deb',
  'brew install x',
]);

const LISTS: readonly (readonly [Rule, string])[] = [
  [privilege, 'sudo sudoedit su doas pkexec runuser gosu su-exec setpriv runas login newgrp sg'],
  [
    shell,
    'sh bash dash zsh ksh ksh93 mksh ash rbash fish csh tcsh yash pwsh powershell eval source . python python2 python3 perl ruby node nodejs deno bun php lua luajit tclsh wish expect awk gawk mawk nawk sed ed ex vi vim nvim nano emacs gdb lldb osascript jshell ghci Rscript R irb make script m4 bc',
  ],
  [
    wrapper,
    'env nice ionice timeout nohup stdbuf setsid time chrt taskset chroot unshare nsenter strace ltrace systemd-run busybox toybox command builtin exec xargs parallel watch find flock at batch trap screen tmux coproc setarch prlimit numactl unbuffer rlwrap proxychains proxychains4 torsocks fakeroot faketime firejail bwrap dbus-run-session',
  ],
  [
    destroys,
    'rm rmdir unlink mv dd shred truncate chmod chown chgrp chattr setfacl kill killall pkill killall5 wipefs blkdiscard parted sfdisk fdisk gdisk sgdisk cryptsetup mkswap wipe srm',
  ],
  [
    writes,
    'tee cp ln mkdir touch install tar unzip zip gzip cpio sysctl iptables ip6tables nft ufw firewall-cmd tc ethtool nmcli systemctl service launchctl mount umount crontab useradd usermod userdel passwd groupadd hostname hostnamectl timedatectl resolvectl modprobe insmod rmmod sort split patch defaults',
  ],
  [
    reads,
    'cat tac head tail less more most nl od xxd hexdump strings grep egrep fgrep rg zgrep zcat cut paste diff cmp comm base64 base32 md5sum sha1sum sha256sum file stat readlink ls tree wc uniq jq yq column fold rev openssl getent',
  ],
  [
    transfers,
    'ssh scp sftp ftp tftp nc ncat netcat socat telnet wget aria2c rsync rclone mail sendmail docker podman nerdctl kubectl helm oc crictl ctr lxc virsh vagrant ansible nmap masscan hping3 iperf iperf3 curlie http xh gcloud aws terraform',
  ],
  [
    installs,
    'apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk brew port snap flatpak pip pip3 pipx npm npx pnpm yarn gem cargo go git svn hg gcc cc clang',
  ],
];

/** Program name → why it is not read-only. Throws when a name is listed twice. */
function compile(): ReadonlyMap<string, Rule> {
  const found = new Map<string, Rule>();
  for (const [rule, names] of LISTS) {
    for (const name of names.split(' ')) {
      if (found.has(name)) throw new Error(`program listed twice: ${name}`);
      found.set(name, rule);
    }
  }
  return found;
}

export const DANGERS: ReadonlyMap<string, Rule> = compile();
export const DANGER_RULES: readonly Rule[] = LISTS.map(([rule]) => rule);
