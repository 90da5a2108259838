/** Where a path leads, in any spelling: the root of the file system, or a device that must not be written. */
import { ANY, couldName, hasPattern, SET, STAR, UNKNOWN } from './marks.ts';

const PATTERN = new RegExp(`[${STAR}${ANY}${SET}]`);
const ALL_NAMES = new RegExp(`^[.${STAR}${ANY}${SET}]*${STAR}[.${STAR}${ANY}${SET}]*$`);

/** Components after `.` `..` and doubled slashes are gone; null when it cannot be known. */
export function components(path: string, cwd: string | null): string[] | null {
  if (path === '' || path.includes(UNKNOWN)) return null;
  let full = path;
  if (!path.startsWith('/')) {
    // So many steps up that they end at the root from anywhere.
    if (cwd === null && !/^(?:\.\.\/+){5,}/.test(`${path}/`)) return null;
    full = `${cwd ?? ''}/${path}`;
  }
  const parts: string[] = [];
  for (const part of full.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  // The root as a process sees it is the root.
  if (parts[0] === 'proc' && parts[2] === 'root') return parts.slice(3);
  return parts;
}

/** `/`, or a pattern that stands for everything in it. */
export function isRoot(path: string, cwd: string | null): boolean {
  const parts = components(path, cwd);
  return parts?.every((part) => ALL_NAMES.test(part)) ?? false;
}

const BLOCK = [
  /^[shv]d[a-z]{1,3}\d*$/,
  /^xvd[a-z]{1,3}\d*$/,
  /^nvme\d+(?:n\d+(?:p\d+)?)?$/,
  /^mmcblk\d+(?:p\d+|boot\d+|rpmb)?$/,
  /^r?disk\d+(?:s\d+)*$/,
  /^(?:loop|nbd|md|ram|zram|sr|scd|fd|bcache|drbd|rbd|pmem|mtd|mtdblock|dm-|cd|ada|da|wd)\d+[a-z]?\d*(?:p\d+|s\d+)?$/,
  /^dasd[a-z]{1,3}\d*$/,
  /^(?:root|cdrom|dvd|mem|kmem|port)$/,
];
const FAMILIES = ['sd', 'hd', 'vd', 'xvd', 'nvme', 'mmcblk', 'disk', 'rdisk', 'md', 'dm-', 'mapper', 'loop'];
/** Folders under /dev that hold no disks. Any other `/dev/group/volume` is a logical volume. */
const NOT_DISKS: ReadonlySet<string> = new Set(
  'bus bsg char cpu dma_heap dri fd hugepages input lightnvm mqueue net pts serial shm snd tcp udp usb v4l vfio'.split(
    ' ',
  ),
);

/** A block device, raw memory, or the kernel's emergency trigger. */
export function isFatalTarget(path: string, cwd: string | null): boolean {
  // Only what names a device can be one; most arguments do not.
  if (cwd === null && !path.includes('dev') && !path.includes('proc') && !hasPattern(path)) return false;
  const parts = components(path, cwd);
  if (parts === null) return false;
  if (parts[0] === 'proc') return parts.length === 2 && couldName(parts[1]!, 'sysrq-trigger');
  if (parts.length < 2 || !couldName(parts[0]!, 'dev')) return false;
  const name = parts[1]!;
  const mark = name.search(PATTERN);
  if (mark !== -1) {
    const prefix = name.slice(0, mark);
    return FAMILIES.some((family) => family.startsWith(prefix) || prefix.startsWith(family));
  }
  if (parts.length > 2) return !NOT_DISKS.has(name);
  return BLOCK.some((pattern) => pattern.test(name));
}
