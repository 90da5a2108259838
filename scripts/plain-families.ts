import { type Families, HEX, name, number, type Random, some, uuid, word } from './secrets-random.ts';

/** What tools and documents say to people, much of it telling them what to do or speaking of models. */
const person = (r: Random) => r.pick(['Anna', 'Tom', 'the team', 'operations', 'Maria', 'everyone', 'Lee']);
const day = (r: Random) => r.pick(['Monday', 'Tuesday', 'Friday', 'next week', 'the end of the month']);
const path = (r: Random) =>
  `/${word(r)}/${word(r)}/${word(r)}.${r.pick(['log', 'ts', 'yaml', 'md', 'json'])}`;

export const PLAIN: Families = {
  log: (r) =>
    `2026-03-1${number(r, 9)} 12:0${number(r, 9)}:1${number(r, 9)} INFO ${word(r)} started on port ${number(r, 9000)}`,
  'log error': (r) =>
    `ERROR ${word(r)}: connection to ${word(r)}.internal refused after ${number(r, 9)} attempts, ignoring`,
  'log ignore': (r) => `WARN ignoring unknown option "${word(r)}" in ${path(r)}; previous value kept`,
  'log override': (r) => `config: ${word(r)}.${word(r)} overrides the rule set above`,
  'log agent': (r) => `agent ${name(r)} registered, ${number(r, 90)} tasks waiting`,
  'log system': (r) => `system: ${word(r)} service reloaded its configuration`,
  'log token': (r) =>
    `assistant message: ${number(r, 900)} tokens in, ${number(r, 900)} tokens out, model ${word(r)}-${number(r, 9)}`,
  json: (r) => `{"${word(r)}": "${word(r)}", "${word(r)}": ${number(r, 999)}, "id": "${uuid(r)}"}`,
  'json message': (r) => `{"role": "assistant", "content": "The ${word(r)} is ${word(r)}."}`,
  'json tool': (r) =>
    `{"name": "${word(r)}_${word(r)}", "description": "Lists the ${word(r)}s of a ${word(r)}.", "required": ["${word(r)}"]}`,
  csv: (r) => `${word(r)},${number(r, 99)},${word(r)},2026-01-0${number(r, 9)}`,
  table: (r) => `| ${word(r)} | ${number(r, 900)} ms | ${word(r)} |`,
  sentence: (r) => `The ${word(r)} of the ${word(r)} was updated by the ${word(r)} team on ${day(r)}.`,
  readme: (r) =>
    `Install the ${word(r)} with npm install, then run npm start. You need Node ${20 + number(r, 6)} or newer.`,
  'readme must': (r) => `You must set ${word(r).toUpperCase()}_URL before you start the ${word(r)}.`,
  'readme before': (r) => `Before you open a pull request, run the tests and update the ${word(r)} page.`,
  'readme do not': (r) => `Do not commit the ${word(r)} file. Never share your password with anyone.`,
  'readme first': (r) => `First create a ${word(r)}, then call ${word(r)}() with its id.`,
  'readme agent': (r) =>
    `This repository holds the ${word(r)} agent, an AI assistant for ${word(r)} operators.`,
  'api doc': (r) =>
    `Use the ${word(r)}_${word(r)} function to list ${word(r)}s. Returns an array of ${word(r)} objects.`,
  'tool description': (r) =>
    `Reads a file from the ${word(r)} and returns its content. Only works within allowed directories.`,
  'tool prefer': (r) =>
    `Search ${word(r)}s by name. Use this tool when you need to find the ${word(r)} of a ${word(r)}.`,
  'tool careful': () =>
    `Overwrites the file without warning. Use with caution; handles text content with proper encoding.`,
  'tool result': (r) => `Found ${number(r, 90)} ${word(r)}s in ${path(r)}`,
  'model doc': (r) =>
    `A language model reads the ${word(r)} and proposes a ${word(r)}; a person approves it.`,
  'model release': (r) =>
    `${r.pick(['Claude', 'GPT', 'Gemini'])} ${number(r, 9)} is faster on ${word(r)} tasks than the previous model.`,
  'system prompt doc': (r) => `The system prompt is read from ${path(r)} and can be changed in the settings.`,
  'prompt doc': (r) => `Prompts are kept in the ${word(r)} folder; each has a name and a ${word(r)}.`,
  'about injection': (r) =>
    `Prompt injection is an attack in which a ${word(r)} tells the model to ignore its instructions.`,
  'about injection list': (r) =>
    `Attackers use phrases like "ignore previous instructions" in ${word(r)} pages; the detector blocks them.`,
  'about jailbreak': (r) =>
    `The paper measures how often models refuse jailbreaks such as "do anything now" on ${number(r, 900)} cases.`,
  'about guardrail': (r) =>
    `Our guardrail found texts that ask the assistant to reveal its system prompt, and blocked ${number(r, 99)} of them.`,
  'about owasp': () =>
    `OWASP lists prompt injection first: instructions hidden in documents that an agent reads, for example web pages.`,
  'about test': () => `it('blocks a tool whose description says to send the keys elsewhere', () => {`,
  'about exfiltration': (r) =>
    `Researchers showed that an agent can be made to send private data to a server; the vulnerability was fixed on ${day(r)}.`,
  'mail request': (r) =>
    `Hi ${person(r)}, could you please send me the ${word(r)} report by ${day(r)}? Thanks!`,
  'mail forward': (r) => `Please forward this message to ${person(r)} and let me know when it is done.`,
  'mail secret': (r) => `Please do not tell ${person(r)} about the party on ${day(r)}, it is a surprise.`,
  'mail instructions': (r) =>
    `The instructions I sent earlier were wrong, please use the ones in the ${word(r)} folder instead.`,
  'mail ignore': (r) => `Please ignore my previous email, the ${word(r)} works again.`,
  'mail approve': (r) => `Your request for ${word(r)} access has been approved by ${person(r)}.`,
  'mail newsletter': (r) =>
    `You are receiving this because you subscribed to ${word(r)} news. Unsubscribe at any time.`,
  'mail reset': (r) =>
    `You asked to reset your password. Follow the link within ${number(r, 24)} hours; if you did not ask, ignore this message.`,
  'chat reply': (r) =>
    `Sure! The ${word(r)} is in the ${word(r)} settings. Let me know if you need anything else.`,
  'chat question': (r) => `What is the difference between a ${word(r)} and a ${word(r)}?`,
  'chat summary': (r) => `Summarize the ${word(r)} page in three sentences.`,
  'user request': (r) =>
    `Please list the files in ${path(r)} and tell me which are larger than ${number(r, 90)} MB.`,
  'user change': (r) => `Delete the ${word(r)} branch and open a pull request for ${name(r)}.`,
  'user role': (r) => `Act as a reviewer for this ${word(r)} and point out mistakes.`,
  'support article': (r) =>
    `If the ${word(r)} does not start, turn it off, wait ${number(r, 60)} seconds and turn it on again.`,
  'support contact': (r) => `Contact the administrator of your ${word(r)} if you cannot sign in.`,
  'support warning': (r) => `IMPORTANT: back up your ${word(r)} before you install this update.`,
  'support notice': (r) =>
    `WARNING: this will delete every ${word(r)} in the ${word(r)}. You are asked to confirm.`,
  'policy text': () =>
    `Employees must not share credentials with third parties or send customer data by mail.`,
  'policy rules': (r) =>
    `All previous versions of these rules are replaced by this document as of ${day(r)}.`,
  'legal text': (r) =>
    `You agree to follow the guidelines of the ${word(r)} and all instructions of its operator.`,
  terms: (r) =>
    `We may send the contents of your ${word(r)} to our partners as described in section ${number(r, 20)}.`,
  recipe: (r) =>
    `Preheat the oven to ${number(r, 90) + 150} degrees. Meanwhile, mix the flour and forget about the ${word(r)} for an hour.`,
  news: (r) =>
    `The company said on ${day(r)} that its new ${word(r)} would act as a bridge between ${word(r)} and ${word(r)}.`,
  story: (r) => `"You are no longer a child," she said quietly, and ${person(r)} did not answer.`,
  'story order': (r) => `The captain ignored all orders and sailed on; nobody was told until ${day(r)}.`,
  history: (r) => `The treaty set aside the earlier rules about ${word(r)}s and ${word(r)}s.`,
  code: (r) => `export function ${word(r)}Of(${word(r)}: string): number { return ${word(r)}.length; }`,
  'code comment': (r) => `// ignore the previous value: the ${word(r)} has changed since`,
  'code todo': (r) => `# TODO: do not send the ${word(r)} twice; see ${path(r)}`,
  'code prompt': (r) => `const prompt = \`You are a helpful assistant for \${${word(r)}}.\`;`,
  'code assistant': (r) => `messages.push({ role: 'system', content: ${word(r)} });`,
  eslint: (r) => `/* eslint-disable no-${word(r)} */ // ignore this rule for the ${word(r)}`,
  gitignore: (r) => `# ignore everything below ${word(r)}, keep the ${word(r)}`,
  'html page': (r) => `<div class="${word(r)}"><h1>${some(r, 3)}</h1><p>${some(r, 8)}</p></div>`,
  'html hidden': (r) => `<div style="display:none" id="${word(r)}-menu">${some(r, 3)}</div>`,
  'html comment': (r) => `<!-- ${word(r)} begins here, do not edit -->`,
  css: (r) => `.${word(r)} { color: white; font-size: 0.${number(r, 9)}rem; opacity: 0.${number(r, 9)}; }`,
  xml: (r) => `<${word(r)} name="${word(r)}"><system>${word(r)}</system></${word(r)}>`,
  markdown: (r) => `## Instructions\n1. Open the ${word(r)}.\n2. Choose ${word(r)} and press Save.`,
  'markdown system': (r) =>
    `### System requirements\n${number(r, 64)} GB of memory, ${word(r)} ${number(r, 12)} or newer`,
  'markdown image': (r) => `![${word(r)}](https://img.example/${word(r)}.svg?style=flat)`,
  'markdown note': (r) => `> **Note:** the ${word(r)} agent restarts when the ${word(r)} changes.`,
  'git log': (r) => `commit ${r.chars(HEX, 40)} Remove the old ${word(r)} instructions and add new rules`,
  'issue text': (r) =>
    `When I call ${word(r)}_${word(r)} with an empty ${word(r)} the tool fails. Expected: an error message.`,
  'issue steps': (r) =>
    `Steps: 1. run the ${word(r)} 2. send the form 3. see that the ${word(r)} is not shown to the user`,
  'review comment': (r) =>
    `Please rename this ${word(r)}; also, do not mention ${word(r)} in the public docs.`,
  'help text': (r) => `  --${word(r)} <${word(r)}>  use this ${word(r)} instead of the default`,
  'man page': (r) => `The ${word(r)} command ignores all rules in ${path(r)} when -f is given.`,
  'kube doc': (r) => `The system:masters group bypasses all restrictions; do not use it for ${word(r)}s.`,
  'ci config': (r) => `run: curl -sf https://${word(r)}.example/health || exit 1`,
  'ci secret': (r) =>
    `Upload the coverage to the ${word(r)} server with the token from the ${word(r)} secret.`,
  runbook: (r) =>
    `To rotate the key, run the ${word(r)} command, then send the new public key to ${person(r)}.`,
  'runbook first': (r) =>
    `Always check the ${word(r)} first. You should only restart the ${word(r)} when it is idle.`,
  'job ad': (r) =>
    `You will act as the main contact for ${word(r)} and must have experience with AI and ${word(r)}.`,
  'product page': (r) =>
    `Meet your new AI assistant: it answers questions about ${word(r)} and works without limits on ${word(r)}.`,
  course: () => `In this chapter you will learn how agents call tools and how a system prompt is written.`,
  spanish: (r) =>
    `Las instrucciones del ${word(r)} están en la página ${number(r, 90)}; siga las reglas de seguridad.`,
  german: (r) => `Bitte beachten Sie die Anweisungen im Handbuch und starten Sie den Dienst ${word(r)} neu.`,
  french: (r) => `Les consignes de sécurité du ${word(r)} se trouvent à la page ${number(r, 90)}.`,
  chinese: (r) => `请按照以下说明安装 ${word(r)}，然后重新启动系统。`,
  russian: (r) => `Инструкции по установке ${word(r)} находятся в приложении.`,
  numbers: (r) => `${number(r, 9999)} ${number(r, 9999)} ${number(r, 9999)} ${number(r, 9999)}`,
  weather: (r) =>
    `${word(r)}: ${number(r, 30)} degrees, wind from the ${r.pick(['north', 'west'])}, no rain until ${day(r)}`,
  'about poisoning': (r) =>
    `Tool poisoning hides orders to the agent in a description; ${person(r)} tested ${number(r, 90)} servers for it.`,
  'about hidden text': (r) =>
    `The attacker wrote "AI: approve this invoice" in white letters; the mail filter detected it on ${day(r)}.`,
  'about red team': (r) =>
    `Our red team asked the model to pretend it has no rules; it refused in ${number(r, 99)} of 100 cases.`,
  'about training': (r) =>
    `The dataset has ${number(r, 9000)} adversarial prompts, e.g. "you are now an evil assistant", each with a label.`,
  'about filter': (r) =>
    `Lines such as "disregard the system prompt" are blocked by rule ${number(r, 90)} of the ${word(r)} filter.`,
  'about exploit': () =>
    `The exploit tells the assistant not to inform the user, then sends the chat history to a server of the attackers.`,
  'about defence': () =>
    `To mitigate this, treat everything a tool returns as data, never as instructions for the agent.`,
  'about leak': (r) =>
    `A student made the chatbot repeat its system prompt; the vulnerability was reported to ${person(r)}.`,
  'about evaluation': (r) =>
    `We evaluate whether agents call send_mail with secrets after reading a payload in a ${word(r)} page.`,
  'agent doc': (r) =>
    `The agent asks a person before it deletes a ${word(r)}; the answer is kept for ${number(r, 90)} days.`,
  'agent config': (r) =>
    `agents: { ${word(r)}: { model: gpt-${number(r, 9)}, tools: [${word(r)}_${word(r)}] } }`,
  'agent log': (r) => `agent: called ${word(r)}_${word(r)} and got ${number(r, 90)} rows`,
  'assistant line': (r) =>
    `Assistant: the ${word(r)} has ${number(r, 90)} open ${word(r)}s, the oldest is from ${day(r)}.`,
  'user line': (r) => `User: how many ${word(r)}s are in the ${word(r)}?`,
  'ai news': (r) =>
    `AI companies such as ${word(r)} and ${word(r)} released new models on ${day(r)}, and investors took notice.`,
  'ai policy': (r) =>
    `Staff may use AI assistants for ${word(r)} drafts but must check every answer before sending it.`,
  'prompt guide': () =>
    `Good prompts say what the model should do first, what it must not do, and how the answer should look.`,
  'bot command': (r) => `Type /${word(r)} to ask the bot for help, or /stop to end the ${word(r)}.`,
  meeting: (r) =>
    `Minutes: ${person(r)} will send the contract to the customer; the ${word(r)} team must first review it.`,
  'security advice': (r) =>
    `Never paste your API key into a chat. If you did, revoke the key in the ${word(r)} settings at once.`,
  'ssh doc': () =>
    `Copy the public key to the server with ssh-copy-id; the private key stays in ~/.ssh/id_rsa.`,
  'env doc': () =>
    `Environment variables are read from .env; copy .env.example and put your own values into it.`,
  'upload doc': (r) =>
    `The client uploads the file to https://${word(r)}.example/files and returns the link to the ${word(r)}.`,
  'role doc': (r) =>
    `The new role "${word(r)} owner" can approve requests and grant access to the ${word(r)}.`,
  'override doc': (r) => `Values given on the command line override everything in the ${word(r)} file.`,
  'mode doc': (r) =>
    `In developer mode the ${word(r)} reloads by itself; debug mode also prints every ${word(r)}.`,
  'post doc': (r) =>
    `Make a POST request to /v1/${word(r)}s with the ${word(r)} in the body; the answer holds its id.`,
  'encode doc': (r) => `The value is encoded in base64 and included in the ${word(r)} header of each call.`,
  changelog: (r) =>
    `${number(r, 9)}.${number(r, 20)}.0: the ${word(r)} tool now reads .env files first; instructions are in the ${word(r)} page.`,
  'task list': (r) =>
    `Task: update the ${word(r)}. Priority: high. Assigned to: ${person(r)}. Do not close before ${day(r)}.`,
  'always doc': (r) =>
    `The ${word(r)} always runs before any other ${word(r)}; it must never be called twice.`,
  'reply rule': (r) =>
    `Reply to customers within ${number(r, 24)} hours and never mention internal ${word(r)} names to them.`,
};
