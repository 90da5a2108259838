import * as fs from 'node:fs';

/**
 * The few file operations that durability rests on, as a port: tests make call n fail, for every n.
 * Small things that live in the page cache are synchronous; what waits for the disk is not.
 */
export interface FilePort {
  /** `append`: O_APPEND on an existing file. `create`: new and exclusive, 0600, O_APPEND. `update`: existing, positional. */
  open(path: string, how: 'append' | 'create' | 'update' | 'read'): OpenFile;
  exists(path: string): boolean;
  /** Names in a folder. */
  list(dir: string): readonly string[];
  rename(from: string, to: string): void;
  /** Makes names in a folder durable. */
  syncDir(dir: string): void;
}

export interface OpenFile {
  stat(): { readonly size: number; readonly links: number };
  /** Reads at a position; fewer bytes than asked only at the end of the file. */
  read(into: Uint8Array, position: number): number;
  /** Adds at the end; answers how many bytes were taken, which may be fewer. */
  append(data: Uint8Array): Promise<number>;
  /** Overwrites in place. */
  writeAt(data: Uint8Array, position: number): void;
  truncate(size: number): void;
  datasync(): Promise<void>;
  datasyncNow(): void;
  close(): void;
}

const SMALL = 64 * 1024;

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = fs.constants;

// A journal is never a link to somewhere else, so none is followed at the last step of the path.
const flags = {
  append: O_RDWR | O_APPEND | O_NOFOLLOW,
  create: O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW,
  update: O_RDWR | O_NOFOLLOW,
  read: O_RDONLY | O_NOFOLLOW,
} as const;

export const systemFiles: FilePort = {
  open: (path, how) => openFile(fs.openSync(path, flags[how], 0o600)),
  exists: (path) => fs.existsSync(path),
  list: (dir) => fs.readdirSync(dir),
  rename: (from, to) => fs.renameSync(from, to),
  syncDir(dir) {
    const fd = fs.openSync(dir, O_RDONLY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  },
};

function openFile(fd: number): OpenFile {
  return {
    stat() {
      const { size, nlink } = fs.fstatSync(fd);
      return { size, links: nlink };
    },
    read(into, position) {
      let done = 0;
      while (done < into.length) {
        const n = fs.readSync(fd, into, done, into.length - done, position + done);
        if (n === 0) break;
        done += n;
      }
      return done;
    },
    async append(data) {
      // A few bytes reach the page cache sooner than another thread could be told of them.
      if (data.length <= SMALL) return fs.writeSync(fd, data);
      return new Promise((resolve, reject) => {
        fs.write(fd, data, (error, written) => (error ? reject(error) : resolve(written)));
      });
    },
    writeAt(data, position) {
      const n = fs.writeSync(fd, data, 0, data.length, position);
      if (n !== data.length) throw new Error(`only ${n} of ${data.length} bytes were written`);
    },
    truncate: (size) => fs.ftruncateSync(fd, size),
    datasync: () =>
      new Promise((resolve, reject) => {
        fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()));
      }),
    datasyncNow: () => fs.fdatasyncSync(fd),
    close: () => fs.closeSync(fd),
  };
}
