/** What is never asked and never run. */
import { forbidden, type Rule } from '../rule.ts';

export const deleteRoot = forbidden(
  'forbid.delete-root',
  0,
  'This deletes the whole file system.',
  [
    'rm -rf /',
    'rm -r -f /*',
    'rm --recursive --force /',
    'rm -rf --no-preserve-root /',
    'rm -rf //',
    'rm -rf /./',
    'rm -rf /etc/..',
    "r'm' -rf /",
    '\\rm -rf /',
    'rm$IFS-rf$IFS/',
    '{rm,-rf,/}',
    "$'\\x72m' -rf /",
    'X=/; rm -rf $X',
    'cd / && rm -rf *',
    "sh -c 'rm -rf /'",
    'find / -delete',
    'find / -exec rm -rf {} +',
    'echo / | xargs rm -rf',
    "echo 'rm -rf /' | sh",
  ],
  [
    'rm -rf /tmp/x',
    'rm -rf .',
    "echo 'rm -rf /'",
    'rm /',
    'curl https://example.com/rm%20-rf%20/',
    "alias ls='rm -rf /'",
  ],
);
export const makeFilesystem = forbidden(
  'forbid.mkfs',
  0,
  'This makes a new file system over what is there.',
  [
    'mkfs /dev/sda',
    'mkfs.ext4 -F disk.img',
    '/sbin/mkfs.xfs /dev/sdb',
    'sudo mkfs.btrfs /dev/vda',
    'mke2fs /dev/vdb',
    'mkswap /dev/sda1',
  ],
  ['man mkfs', 'echo mkfs.ext4'],
);
export const writeDevice = forbidden(
  'forbid.block-device',
  0,
  'This writes to a disk, to raw memory or to the kernel trigger behind the file system.',
  [
    'dd if=/dev/zero of=/dev/sda',
    'dd of=/dev/nvme0n1 bs=1M if=x.img',
    'cat x > /dev/sda',
    'tee /dev/sdb',
    'cp x.img /dev/mmcblk0',
    'shred /dev/sda',
    'wipefs -a /dev/sda',
    'curl -o /dev/sda https://example.com/x',
    'echo b > /proc/sysrq-trigger',
    'dd if=x of=/dev/../dev/sda',
    'parted /dev/sda mklabel gpt',
  ],
  [
    'dd if=/dev/zero of=/dev/null',
    'dd if=/dev/sda of=disk.img',
    'dd if=a of=b',
    'cp /dev/sda x.img',
    'fdisk -l /dev/sda',
    'parted /dev/sda print',
    'curl -o /dev/null https://example.com',
  ],
);
export const power = forbidden(
  'forbid.power',
  0,
  'This stops or restarts the machine.',
  [
    'reboot',
    'shutdown -h now',
    'halt',
    'poweroff -f',
    'init 0',
    'telinit 6',
    'systemctl poweroff',
    'systemctl start reboot.target',
    'sudo reboot',
    'ping -c 1 10.0.0.1 && reboot',
    'loginctl poweroff',
  ],
  [
    'init 3',
    'systemctl status',
    'nslookup shutdown.example.com',
    'echo reboot',
    'az vm get-instance-view -g rg -n reboot',
    'man reboot',
  ],
);
export const forkBomb = forbidden(
  'forbid.fork-bomb',
  0,
  'This multiplies itself until the machine stops.',
  [
    ':(){ :|:& };:',
    ':(){:|:&};:',
    'bomb() { bomb | bomb & }; bomb',
    'f(){ f|f& };f',
    'function x { x & x & }; x',
    "bash -c ':(){ :|:& };:'",
    'a(){ b|b& }; b(){ a|a& }; a',
  ],
  ['f() { echo x | cat; }; f', 'while :; do :; done'],
);
export const killAll = forbidden(
  'forbid.kill-all',
  0,
  'This ends every process of the machine.',
  ['kill -9 -1', 'kill -s KILL -- -1', 'killall5 -9'],
  ['kill -9 1234', 'kill -1 1234'],
);
export const rootPermissions = forbidden(
  'forbid.root-permissions',
  0,
  'This changes owner or permissions of the whole file system.',
  ['chmod -R 777 /', 'chown -R nobody /*', 'chmod --recursive 000 //'],
  ['chmod -R 755 /tmp/x', 'chmod 755 /'],
);
export const tooDeep = forbidden(
  'forbid.wrapped-too-deep',
  0,
  'The command is wrapped in more than eight layers, so what it runs cannot be shown.',
  [`${'env '.repeat(9)}ping 10.0.0.1`],
  [`${'env '.repeat(8)}ping 10.0.0.1`],
);

export const FORBIDDEN_RULES: readonly Rule[] = [
  deleteRoot,
  makeFilesystem,
  writeDevice,
  power,
  forkBomb,
  killAll,
  rootPermissions,
  tooDeep,
];
export const MOST_LAYERS = 8;
