import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

/**
 * Why programs of this folder must not be run by their bare name, or undefined when they may: whoever can write
 * to it, or to a folder above it, decides what such a name means.
 */
export function distrust(folder: string): string | undefined {
  if (!isAbsolute(folder)) return 'is not an absolute path';
  if (folder.includes(':') || folder.includes('\0')) return 'cannot stand in a PATH';
  try {
    if (realpathSync(folder) !== folder) return `goes through a symlink; name ${realpathSync(folder)}`;
    if (!statSync(folder).isDirectory()) return 'is not a folder';
    for (let path = folder; ; path = dirname(path)) {
      const { mode, uid } = statSync(path);
      if (uid !== 0 && uid !== process.getuid?.()) return `belongs to somebody else at ${path}`;
      // In a sticky folder such as /tmp others can add, but not replace what is ours.
      const sticky = path !== folder && (mode & 0o1000) !== 0;
      if ((mode & 0o022) !== 0 && !sticky) return `can be changed by others at ${path}`;
      if (path === dirname(path)) return undefined;
    }
  } catch {
    return 'does not exist or cannot be read';
  }
}
