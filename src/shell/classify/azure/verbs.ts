/** Which commands of the Azure CLI only read, and which of those hand out what must stay secret. */

const READ = /^(?:list|show|get|check|exists|wait|test-ip-flow|(?:list|show|get|check)[-_][a-z0-9_-]+)$/;

export function isReadVerb(verb: string): boolean {
  return READ.test(verb);
}

/** Words (between hyphens) that say a command deals in credentials. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  (
    'key keys secret secrets credential credentials sas token tokens password passwords passphrase kubeconfig ' +
    'publishing authorization auth'
  ).split(' '),
);
/** Compounds in which such a word means something harmless. */
const HARMLESS = /key-vault|keyvault|auth-cert|ad-only-auth|azure-ad-auth|authentication/g;

/** Settings of applications and stores of settings: their values are credentials as a rule. */
const SECRET_PATHS: readonly string[] = [
  'account get-access-token',
  'acr connected-registry get-settings',
  'acr webhook get-config',
  'acr login',
  'apim nv',
  'appconfig kv',
  'batch node remote-login-settings',
  'bot authsetting',
  'bot directline',
  'config get',
  'functionapp config appsettings',
  'functionapp config container',
  'functionapp deployment container show-cd-url',
  'functionapp deployment user',
  'functionapp hybrid-connection',
  'iot dps policy',
  'iot hub policy',
  'iot hub device-identity',
  'iot hub module-identity',
  'keyvault certificate issuer',
  'logicapp config appsettings',
  'netappfiles account ad',
  'network virtual-appliance get-boot-diagnostic-log',
  'network vnet-gateway vpn-client show-url',
  'network vpn-connection show-device-config-script',
  'staticwebapp appsettings',
  'synapse integration-runtime get-connection-info',
  'vm boot-diagnostics get-boot-log-uris',
  'webapp config appsettings',
  'webapp config backup',
  'webapp config container',
  'webapp config storage-account',
  'webapp deployment container show-cd-url',
  'webapp deployment user',
  'webapp hybrid-connection',
];

/** Read by name, but they do more: take messages off a queue, start a pod, open a session. */
const NOT_READS: ReadonlySet<string> = new Set(['aks check-acr', 'storage message get']);

/** Commands that only read although their verb does not say so. */
const ALSO_READS: ReadonlySet<string> = new Set([
  'version',
  'synapse pipeline-run query-by-workspace',
  'synapse activity-run query-by-pipeline-run',
  'synapse trigger-run query-by-workspace',
  'webapp sitecontainers log',
]);

export type VerbKind = 'read' | 'secret' | 'change';

/** Judges a command by its words; `path` is the words joined by blanks, the verb last. */
export function verbKind(words: readonly string[], path: string): VerbKind {
  const verb = words[words.length - 1] ?? '';
  if (ALSO_READS.has(path)) return 'read';
  if (!isReadVerb(verb) || NOT_READS.has(path)) return SECRET_PATHS.includes(path) ? 'secret' : 'change';
  return dealsInSecrets(words, path) ? 'secret' : 'read';
}

function dealsInSecrets(words: readonly string[], path: string): boolean {
  // Certificates are public except where the vault hands out what belongs to them.
  if (words[0] === 'keyvault' && words[1] === 'certificate' && words[2] !== 'issuer') {
    return words.length === 3 && /^(?:show|get|show-deleted)$/.test(words[2] ?? '');
  }
  for (const word of words) {
    if (word === 'connection-string' || word.includes('connection-string')) return true;
    if (word === 'list-configuration') return true;
    const plain = word.replace(HARMLESS, '');
    for (const piece of plain.split('-')) if (SECRET_WORDS.has(piece)) return true;
  }
  for (const secret of SECRET_PATHS) {
    if (path.startsWith(secret) && (path.length === secret.length || path.charCodeAt(secret.length) === 0x20))
      return true;
  }
  return false;
}

/** Words that act: in a command group we do not know, one of them before the verb may be the real verb. */
const ACTS: ReadonlySet<string> = new Set(
  (
    'abort accept acquire activate add allow apply approve assign attach authorize backup bind build cancel capture ' +
    'change clear clone close commit complete configure connect convert copy create deactivate deallocate delete deny ' +
    'deploy detach disable disconnect download drop enable encrypt decrypt exec execute export extend failover flush ' +
    'format generate grant import initialize insert install invoke kill link lock login logout merge migrate move ' +
    'open patch pause peek ping post prepare promote provision publish purge push put reboot recover regenerate ' +
    'register reimage reject release remove rename renew repair replace reset resize rest restart restore resume retry ' +
    'revert revoke rotate rollback run scale send set sign simulate ssh start stop submit suspend swap sync tag ' +
    'terminate trigger uninstall unlink unlock unregister unset untag update upgrade upload up validate verify write interactive'
  ).split(' '),
);

export function acts(word: string): boolean {
  if (ACTS.has(word)) return true;
  const hyphen = word.indexOf('-');
  return hyphen !== -1 && ACTS.has(word.slice(0, hyphen)) && word !== 'run-command';
}
