import { ALNUM, B64, caps, type Families, HEX, name, number, password, word } from './secrets-random.ts';

/** Lines that hold a secret, each family one way of writing it down. */
export const SECRETS: Families = {
  'ini password': (r) => `${r.pick(['password', 'passwd', 'pwd', 'pass'])} = ${password(r)}`,
  'yaml password': (r) => `${r.pick(['db_', 'admin_', '', 'smtp_'])}password: "${password(r)}"`,
  'json password': (r) => `"${r.pick(['password', 'Password', 'dbPassword'])}": "${password(r)}",`,
  'env password': (r) => `${caps(r)}_${r.pick(['PASSWORD', 'PASSWD', 'PASS', 'PWD'])}=${password(r)}`,
  'export password': (r) =>
    `export ${r.pick(['PGPASSWORD', 'MYSQL_PWD', 'REDIS_PASSWORD'])}='${password(r)}'`,
  'flag password': (r) => `${r.pick(['--admin-password', '--password', '--db-password'])} ${password(r)}`,
  'mysql client': (r) => `mysql -u ${word(r)} --password=${password(r)} ${word(r)}`,
  'sql user': (r) => `CREATE USER ${word(r)} WITH PASSWORD '${password(r)}';`,
  'sql identified': (r) => `ALTER USER '${word(r)}'@'%' IDENTIFIED BY '${password(r)}'; -- password`,
  'xml password': (r) => `<property name="password" value="${password(r)}"/>`,
  'properties password': (r) => `spring.datasource.password=${password(r)}`,
  'toml secret': (r) => `${r.pick(['secret', 'secret_key', 'signing_secret'])} = "${r.chars(HEX, 64)}"`,
  'python secret': (r) =>
    `${r.pick(['SECRET_KEY', 'JWT_SECRET', 'SESSION_SECRET'])} = '${r.chars(ALNUM, 50)}'`,
  'code token': (r) => `const ${word(r)}Token = "${r.chars(ALNUM, 40)}";`,
  'code api key': (r) => `${word(r)}.apiKey = "${r.chars(ALNUM, 32)}"`,
  'env api key': (r) => `${caps(r)}_API_KEY=${r.chars(ALNUM, 40)}`,
  'env secret': (r) => `${caps(r)}_SECRET=${r.chars(`${ALNUM}_-`, 43)}`,
  'export token': (r) => `export ${caps(r)}_TOKEN='${r.chars(ALNUM, 32)}'`,
  'yaml token': (r) => `${r.pick(['token', 'auth_token', 'access_token'])}: ${r.chars(ALNUM, 48)}`,
  'json client secret': (r) =>
    `"${r.pick(['client_secret', 'clientSecret'])}": "${r.chars(`${ALNUM}~_.`, 40)}"`,
  'header bearer': (r) => `Authorization: Bearer ${r.chars(ALNUM, 60)}`,
  'header basic': (r) => `Authorization: Basic ${r.chars(B64, 36)}==`,
  'header api key': (r) => `x-api-key: ${r.chars(ALNUM, 32)}`,
  'curl header': (r) =>
    `curl -H "Authorization: token ${r.chars(ALNUM, 40)}" https://api.example.org/${word(r)}`,
  'curl user': (r) => `curl https://${word(r)}:${password(r)}@${word(r)}.example.org/${word(r)}`,
  'aws key id': (r) => `aws_access_key_id = AKIA${r.chars('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  'aws secret': (r) =>
    `${r.pick(['aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY'])}${r.pick(['=', ': '])}${r.chars(B64, 40)}`,
  'azure account key': (r) =>
    `DefaultEndpointsProtocol=https;AccountName=${word(r)};AccountKey=${r.chars(B64, 86)}==`,
  'azure sas': (r) => `?sv=2024-05-04&ss=b&srt=sco&sp=rwd&sig=${r.chars(ALNUM, 43)}%3D&se=2030-01-01`,
  'azure sql': (r) => `Server=tcp:${word(r)}.example.net,1433;User ID=${word(r)};Password=${password(r)};`,
  'service bus': (r) => `SharedAccessKeyName=${word(r)};SharedAccessKey=${r.chars(B64, 43)}=`,
  'postgres url': (r) =>
    `postgres://${word(r)}:${password(r).replace(/[#?/]/g, 'x')}@db.internal:5432/${word(r)}`,
  'mongo url': (r) => `mongodb+srv://${word(r)}:${r.chars(ALNUM, 16)}@${word(r)}.example.net/${word(r)}`,
  'redis url': (r) => `REDIS_URL=redis://:${r.chars(ALNUM, 24)}@cache.internal:6379/0`,
  'amqp url': (r) => `amqp://${word(r)}:${r.chars(ALNUM, 18)}@${word(r)}.internal:5672/`,
  'github token': (r) => `${r.pick(['ghp_', 'gho_', 'ghs_'])}${r.chars(ALNUM, 36)}`,
  'github remote': (r) =>
    `git remote add origin https://${word(r)}:ghp_${r.chars(ALNUM, 36)}@git.example.org/${word(r)}`,
  'gitlab token': (r) => `glpat-${r.chars(`${ALNUM}_`, 20)}`,
  'slack token': (r) => `token: xoxb-${r.chars('0123456789', 12)}-${r.chars(ALNUM, 24)}`,
  'slack webhook': (r) =>
    `webhook: https://hooks.example.com/services/T${r.chars(ALNUM, 8)}/B${r.chars(ALNUM, 8)}/${r.chars(ALNUM, 24)}`,
  'stripe key': (r) => `${r.pick(['sk_live_', 'rk_live_', 'sk_test_'])}${r.chars(ALNUM, 24)}`,
  'google key': (r) => `"key": "AIza${r.chars(`${ALNUM}_-`, 35)}"`,
  'npm token': (r) => `//registry.example.org/:_authToken=npm_${r.chars(ALNUM, 36)}`,
  'docker auth': (r) => `"auth": "${r.chars(B64, 40)}="`,
  jwt: (r) => `eyJhbGciOiJIUzI1NiJ9.eyJ${r.chars(ALNUM, 50)}.${r.chars(ALNUM, 43)}`,
  'cookie jwt': (r) =>
    `Cookie: session=eyJ${r.chars(ALNUM, 30)}.eyJ${r.chars(ALNUM, 40)}.${r.chars(ALNUM, 43)}`,
  'pem key': (r) =>
    `-----BEGIN ${r.pick(['RSA ', 'EC ', '', 'OPENSSH '])}PRIVATE KEY----- MII${r.chars(B64, 60)}`,
  'private key env': (r) => `${caps(r)}_PRIVATE_KEY="MII${r.chars(B64, 80)}"`,
  'helm set': (r) => `helm upgrade ${word(r)} ./chart --set auth.password=${password(r)}`,
  'az secret': (r) =>
    `az keyvault secret set --vault-name ${name(r)} --name ${word(r)}-token --value ${r.chars(ALNUM, 32)}`,
  'kube secret': (r) => `kubectl create secret generic ${name(r)} --from-literal=password=${password(r)}`,
  'terraform value': (r) =>
    `${r.pick(['admin_password', 'db_password', 'client_secret'])} = "${password(r)}"`,
  'wifi psk': (r) => `wpa_passphrase=${password(r)}`,
  htpasswd: (r) => `${word(r)}:$apr1$${r.chars(ALNUM, 8)}$${r.chars(ALNUM, 22)} # htpasswd`,
  'log leak': (r) => `INFO login ok user=${word(r)} password=${password(r)} from 10.0.${number(r, 250)}.4`,
  'connection string': (r) =>
    `Data Source=${word(r)};Initial Catalog=${word(r)};User Id=${word(r)};Pwd=${password(r)}`,
  'ftp url': (r) => `ftp://${word(r)}:${r.chars(ALNUM, 14)}@files.internal/${word(r)}`,
  'smtp url': (r) => `SMTP_URL=smtps://${word(r)}:${r.chars(ALNUM, 20)}@mail.internal:465`,
  netrc: (r) => `machine ${word(r)}.example.org login ${word(r)} password ${password(r)}`,
  pgpass: (r) => `db.internal:5432:${word(r)}:${word(r)}:${password(r)} # pgpass password`,
  'php define': (r) => `define('DB_PASSWORD', '${password(r)}');`,
  'ruby secret': (r) => `config.secret_key_base = '${r.chars(HEX, 128)}'`,
  'go const': (r) => `const ${word(r)}Secret = "${r.chars(ALNUM, 32)}"`,
  'java system': (r) => `System.setProperty("${word(r)}.password", "${password(r)}");`,
  'compose environment': (r) => `- POSTGRES_PASSWORD=${password(r)}`,
  'dockerfile env': (r) => `ENV ${caps(r)}_TOKEN ${r.chars(ALNUM, 40)}`,
  'systemd environment': (r) => `Environment="${caps(r)}_API_KEY=${r.chars(ALNUM, 32)}"`,
  'ansible user': (r) => `ansible_become_password: ${password(r)}`,
  'openai key': (r) => `OPENAI_API_KEY=sk-proj-${r.chars(`${ALNUM}_-`, 48)}`,
  'sendgrid key': (r) => `SG.${r.chars(ALNUM, 22)}.${r.chars(ALNUM, 43)}`,
  'digitalocean token': (r) => `dop_v1_${r.chars(HEX, 64)}`,
  'age key': (r) => `AGE-SECRET-KEY-1${r.chars('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`,
  'oauth refresh': (r) => `"refresh_token": "1//0${r.chars(`${ALNUM}_-`, 60)}"`,
  'sshpass command': (r) => `sshpass -p ${password(r)} ssh ${word(r)}@${word(r)}.internal # password`,
  'openssl passphrase': (r) => `openssl rsa -in key.pem -passin pass:${password(r)}`,
};
