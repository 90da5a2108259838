/** Whether a line is a command, and what it would do to whom. Verbs count where commands have them. */
const FILES = /^(?:rm|rmdir|del|erase|unlink|shred|remove-item)$/i;
const TOOLS =
  /^(?:az|aws|gcloud|kubectl|oc|helm|docker|podman|terraform|tofu|pulumi|vault|redis-cli|psql|mysql|mongosh|mongo|git|gh|npm|apt|apt-get|yum|dnf|systemctl|crontab|vgremove|lvremove|zfs|virsh|flux|argocd)$/i;
const VERB =
  /^(?:--?)?(?:(?:delete|destroy|terminate|remove|deregister|purge|drop)(?:[-:]\w+)*|rm|rb|prune|uninstall|flushall|flushdb|dropdatabase\W*|purge|wipe)$/i;
const SQL =
  /\b(?:drop\s+(?:table|database|schema|user|index)|truncate\s+table)\b|\bdelete\s+from\s+\w+\s*;?\s*["']?\s*$/i;
const DISK =
  /(?:\bof=|>\s*|\bmkfs\S*\s.*|\bwipefs\s.*|\bshred\s.*|\bparted\s.*|\b[sg]?fdisk\s.*|\bblkdiscard\s.*)\/dev\/(?:sd|nvme|vd|xvd|hd|mmcblk|mapper|disk)|\b(?:format-volume|clear-disk|initialize-disk)\b|^format\s+[a-z]:/i;
const HALT = /^(?:shutdown|reboot|halt|poweroff|stop-computer|restart-computer|killall|pkill)$/i;
const RUNS_FETCHED =
  /\b(?:curl|wget|iwr|invoke-webrequest)\b.*\|\s*(?:sudo\s+)?(?:\/bin\/)?(?:(?:ba|z|da|k)?sh|python3?|perl|ruby|node)\b|\b(?:bash|sh|python3?|perl)\s+(?:-c\s+["']?\$\(|<\()\s*(?:curl|wget)|\b(?:iex|invoke-expression)\b/i;
const OPENS =
  /\bchmod\s.*\b(?:0?777|a\+rwx)\s+[/~]|\bch(?:own|grp)\s+-R\s+\S+\s+[/~]|\biptables\s+(?:-F|--flush)|\bsetenforce\s+0|\bufw\s+disable/i;
const REWRITES =
  /\bgit\s.*\b(?:push\s.*(?:--force\b|-f\b|--mirror\b)|reset\s+--hard|clean\s+-\w*f|branch\s+-D)/i;
const BOMB = /\(\)\s*\{[^}]*\|[^}]*&\s*\}\s*;/;
const FORCED =
  /(?:^|\s)(?:--(?:force|yes|auto-approve|quiet|no-preserve-root|recursive|all|cascade|mirror|volumes|no-wait|skip-[\w-]+)|-[a-z]*[rfy][a-z]*|\/[fsq]|-recurse|-force|-confirm:\$false)(?=$|[\s=])/i;
const BROAD =
  /(?:^|[\s="'])(?:[/~*]|\/\*|"?\$\w+"?(?:\/\*)?|[cC]:\\\S*|\/(?:etc|usr|var|home|root|boot|bin|sbin|lib|opt|srv)(?:\/\w+)?(?:\/\*?)?)(?=$|[\s;&|"'])/;
const SCRATCH =
  /(?:^|[\s"'])(?:\/tmp\/|\.?\/?(?:tmp|temp|cache|build|dist|out|target|node_modules|coverage|__pycache__|\.next|\.cache)(?:\/|\b))|\.(?:tmp|log|bak|pyc|o|swp)\b/i;
const DRY = /--(?:dry-run|what-?if|check|help|simulate)\b|-whatif\b|\bplan\b|^(?:echo|printf|man)\b/i;
const PROSE = /^[A-Za-z][a-z]*(?:[ ,;'’]+[a-z'’-]+){3,}/;

export function dangerSignals(line: string): readonly boolean[] {
  const bare = line.replace(/^(?:[+>$#*\s-]+|run:\s*)+/, '');
  // What is quoted is the command's business only where a program is told to run it.
  const said = /\s(?:-c|-e|--eval)\s/.test(bare) ? bare : bare.replace(/"[^"]*"|'[^']*'/g, '""');
  const parts = said.split(/&&|\|\||[;|]|-exec\b/).map((part) => wordsOf(part));
  const dry = DRY.test(bare);
  const scratch = SCRATCH.test(bare);
  const prose = PROSE.test(bare) && !/\s-{1,2}\w/.test(bare);
  const files = parts.some(([head = '']) => FILES.test(head)) || /\bfind\s.*\s-delete\b/.test(bare);
  const sweeping = files && (BROAD.test(bare) || /\{\}/.test(bare)) && !scratch;
  const tool = parts.some(([head = '', ...rest]) => TOOLS.test(head) && rest.some((w) => VERB.test(w)));
  const halts = parts.some(([head = '']) => HALT.test(head));
  const sql = SQL.test(bare);
  const other = [DISK, RUNS_FETCHED, OPENS, REWRITES, BOMB].some((pattern) => pattern.test(bare));
  const destroys = sweeping || tool || sql || halts || other;
  return [
    destroys && !dry && !prose,
    sweeping,
    tool,
    sql,
    files && scratch,
    files && !sweeping,
    other || halts,
    destroys && FORCED.test(bare),
    dry,
    prose,
    destroys && prose,
  ];
}

/** The words of one command, without what only goes before it. */
function wordsOf(part: string): readonly string[] {
  const words = part
    .trim()
    .split(/[\s"'()]+/)
    .filter((w) => w !== '');
  while (/^(?:sudo|nohup|env|time|exec|xargs|-\w+|[A-Z_]+=\S*)$/.test(words[0] ?? '') && words.length > 1)
    words.shift();
  return words;
}
