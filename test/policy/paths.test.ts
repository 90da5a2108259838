import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { globMistake } from '../../src/policy/glob.ts';
import { compilePaths, type PathLists } from '../../src/policy/index.ts';

const base = '/home/u/project';
const judge = (lists: Partial<PathLists>, path: string, real = path) =>
  compilePaths(
    { allow_paths: ['./**'], deny_paths: [], allow_hidden: false, ...lists },
    base,
  )({
    asked: path,
    lexical: path,
    real,
  });
const allowed = (lists: Partial<PathLists>, path: string, real?: string) =>
  judge(lists, path, real) === undefined;
const inside = (name: string) => `${base}/${name}`;

describe('paths', () => {
  it('[POL-06] * and ? stay within a folder, ** crosses them', () => {
    expect(allowed({ allow_paths: ['./root/*.txt'] }, inside('root/a.txt'))).toBe(true);
    expect(allowed({ allow_paths: ['./root/*.txt'] }, inside('root/a/b/c.txt'))).toBe(false);
    expect(allowed({ allow_paths: ['./root/**/*.txt'] }, inside('root/a/b/c.txt'))).toBe(true);
    expect(allowed({ allow_paths: ['./root/?.txt'] }, inside('root//.txt'))).toBe(false);
    expect(allowed({ allow_paths: ['./root/x[!a]y'] }, inside('root/x/y'))).toBe(false);
    expect(allowed({ allow_paths: ['./root/x[!a]y'] }, inside('root/xby'))).toBe(true);
    expect(allowed({ allow_paths: ['./root/x[!a]y'] }, inside('root/xay'))).toBe(false);
  });

  it('[POL-07] what is not in the allow list is denied, and an empty list allows nothing', () => {
    for (const path of [
      '/etc/passwd',
      '/etc/shadow',
      '/root/.ssh/id_rsa',
      '/var/log/auth.log',
      '/home/u/project2/x',
      '/',
    ]) {
      expect(judge({}, path)).toMatchObject({ verdict: 'deny', rule: 'allow_paths' });
    }
    expect(judge({ allow_paths: [] }, inside('a'))).toMatchObject({ rule: 'allow_paths' });
    expect(allowed({}, inside('not/there/yet.txt'))).toBe(true);
  });

  it('[POL-08] hidden names are denied at any depth unless the pattern spells them out', () => {
    for (const name of ['.env', '.ssh/id_rsa', 'normal/.hidden/file.txt', '.git/config'])
      expect(judge({}, inside(name))).toMatchObject({ rule: 'allow_hidden' });
    expect(allowed({ allow_hidden: true }, inside('.git/config'))).toBe(true);
    expect(allowed({ allow_paths: ['./.github/**'] }, inside('.github/workflows/ci.yml'))).toBe(true);
    expect(allowed({ allow_paths: ['./.github/**'] }, inside('.github/.secret/x'))).toBe(false);
  });

  it('a hidden folder above the base is nobody’s business', () => {
    const judgeHere = compilePaths(
      { allow_paths: ['./**'], deny_paths: [], allow_hidden: false },
      '/home/u/.cache/p',
    );
    expect(
      judgeHere({ asked: 'x', lexical: '/home/u/.cache/p/x', real: '/home/u/.cache/p/x' }),
    ).toBeUndefined();
  });

  it('[POL-09] deny wins over allow, under every root, for children, in any case and Unicode form', () => {
    const everywhere = { allow_paths: ['./**', '/data/**'], allow_hidden: true };
    const denies = (pattern: string, path: string) =>
      expect(judge({ ...everywhere, deny_paths: [pattern] }, path), `${pattern} ${path}`).toMatchObject({
        rule: 'deny_paths',
        at: ['deny_paths', 0],
      });
    denies('**/*.key', '/data/deep/x.key');
    denies('**/*.key', inside('x.key'));
    denies('**/*.key', inside('X.KEY'));
    denies('**/.env', '/data/.env');
    denies('*.pem', '/data/a/b.pem');
    denies('./root/**/secrets/*.txt', inside('root/a/secrets/x.txt'));
    denies('./root/**/secrets/*.txt', inside('root/secrets/x.txt'));
    denies('./vault', inside('vault'));
    denies('./vault', inside('vault/a/b'));
    denies('./vault/', inside('vault/a/b'));
    denies('**/vault', '/data/x/vault/y');
    denies('/data/Vault', '/data/vault/y');
    denies('**/caf\u00e9', '/data/cafe\u0301');
    denies('**/key.pem', '/data/key.pem. ');
    expect(
      judge({ ...everywhere, deny_paths: ['**/secret'] }, '/data/link', '/data/a\nb/secret'),
    ).toMatchObject({
      rule: 'deny_paths',
    });
    const reason = judge({ ...everywhere, deny_paths: ['**/*.key'] }, inside('x.key'))?.reason;
    expect(reason).toContain('wins over allow_paths');
  });

  it('a deny pattern does not deny its neighbours', () => {
    const lists = { deny_paths: ['**/.env', '**/*.key', './vault'], allow_hidden: true };
    for (const name of ['.environment', 'x.keys', 'vaults/x', 'env', 'a.key.txt'])
      expect(judge(lists, inside(name)), name).toBeUndefined();
  });

  it('[POL-10] a link is judged by where it leads as well', () => {
    expect(judge({}, inside('link'), '/etc/passwd')).toMatchObject({ verdict: 'deny' });
    expect(judge({}, inside('link'), '/etc/passwd')?.reason).toContain('link');
    expect(allowed({ allow_paths: ['./**', '/data/**'] }, inside('link'), '/data/x')).toBe(true);
    expect(judge({ deny_paths: ['**/*.key'] }, inside('link'), inside('x.key'))).toMatchObject({
      rule: 'deny_paths',
    });
    expect(judge({ allow_paths: ['./data/**'] }, inside('data/passwd'), '/etc/passwd')).toMatchObject({
      verdict: 'deny',
    });
  });

  it('[POL-11] names that mean nothing safe are refused without a crash', () => {
    for (const asked of [
      '',
      'a\0b',
      '~/.bashrc',
      `${'x'.repeat(1000)}`,
      'a\nb',
      '\ud800',
      'y'.repeat(5000),
    ]) {
      const finding = compilePaths(
        { allow_paths: ['/**'], deny_paths: [], allow_hidden: true },
        base,
      )({
        asked,
        lexical: `${base}/${asked}`,
        real: `${base}/${asked}`,
      });
      expect(finding, JSON.stringify(asked.slice(0, 10))).toMatchObject({ verdict: 'deny', rule: 'path' });
    }
    expect(() => judge({}, '   ')).not.toThrow();
  });

  it('glob characters in the names of folders above mean nothing', () => {
    const odd = '/srv/[a]*{b}(c)';
    const judgeOdd = compilePaths(
      { allow_paths: ['./*.txt'], deny_paths: ['./no/**'], allow_hidden: false },
      odd,
    );
    const at = (name: string) => judgeOdd({ asked: name, lexical: `${odd}/${name}`, real: `${odd}/${name}` });
    expect(at('x.txt')).toBeUndefined();
    expect(at('no/x')).toBeDefined();
    expect(judgeOdd({ asked: 'x', lexical: '/srv/aXb(c)/x.txt', real: '/srv/aXb(c)/x.txt' })).toBeDefined();
  });

  it('patterns without a clear meaning are refused', () => {
    for (const pattern of [
      '',
      '  ',
      '!x',
      '~/x',
      'a/**/../x',
      'a\0',
      '*a*b*c*d*e*f*g*h*i*',
      'x'.repeat(2000),
    ])
      expect(globMistake(pattern), pattern.slice(0, 20)).toBeTypeOf('string');
    for (const pattern of ['./**', '../shared/**', '**/*.key', 'a[!b]', '{a,b}/*.ts', '[', 'a(b', '/'])
      expect(globMistake(pattern), pattern).toBeUndefined();
  });

  it('property: nothing outside the base is ever allowed by a relative pattern', () => {
    const segment = fc.stringMatching(/^[A-Za-z0-9 ._-]{1,8}$/).filter((s) => s !== '.' && s !== '..');
    fc.assert(
      fc.property(
        fc.array(segment, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('./**', './*', './a/**', '**', '*'),
        (parts, glob) => {
          const path = `/${parts.join('/')}`;
          fc.pre(!path.startsWith(`${base}/`) && path !== base);
          expect(allowed({ allow_paths: [glob], allow_hidden: true }, path)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('property: a denied folder denies everything below it, in any letter case', () => {
    const segment = fc.stringMatching(/^[A-Za-z0-9._ -]{1,8}$/).filter((s) => !/^\.+$/.test(s));
    fc.assert(
      fc.property(
        fc.array(segment, { maxLength: 4 }),
        fc.array(segment, { maxLength: 4 }),
        fc.boolean(),
        (above, below, upper) => {
          const name = upper ? 'SECRETS' : 'secrets';
          const path = ['', ...above, name, ...below].join('/');
          expect(
            judge({ allow_paths: ['/**'], allow_hidden: true, deny_paths: ['**/Secrets'] }, path),
          ).toMatchObject({ rule: 'deny_paths' });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('[POL-07] property: among many patterns a path is allowed exactly when one of them alone allows it', () => {
    const pattern = fc.constantFrom(
      './a/**',
      './a/*',
      './a/b/c.txt',
      './**/*.md',
      '/srv/**',
      '/*',
      '**',
      './.x/**',
    );
    const path = fc.constantFrom(
      '/',
      base,
      `${base}/a`,
      `${base}/a/b`,
      `${base}/a/b/c.txt`,
      `${base}/.x/y`,
      '/srv/z.md',
      '/etc',
    );
    fc.assert(
      fc.property(
        fc.array(pattern, { maxLength: 6 }),
        path,
        fc.boolean(),
        (allow_paths, asked, allow_hidden) => {
          const alone = allow_paths.some((one) => !judge({ allow_paths: [one], allow_hidden }, asked));
          expect(judge({ allow_paths, allow_hidden }, asked) === undefined).toBe(alone);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('[POL-09] a pattern that names a hidden file is the rule that is named', () => {
    expect(judge({ allow_paths: ['./**'], deny_paths: ['**/.env'] }, inside('.env'))).toMatchObject({
      rule: 'deny_paths',
    });
  });

  it('a hostile path against many wildcards is decided quickly', () => {
    const started = performance.now();
    judge({ allow_paths: ['./*a*a*a*a*a*b'], deny_paths: ['**/*a*a*a*a*a*c'] }, inside('a'.repeat(255)));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
