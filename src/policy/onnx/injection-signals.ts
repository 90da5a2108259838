/**
 * Whether a passage speaks to the model that will read it instead of to a person: as a fixed row of numbers
 * between 0 and 1, the part of the features that does not depend on which words were seen in training. Each entry
 * is one question; their order is part of a model.
 */
const ORDERS = `(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|context|orders?|commands?|constraints?|polic(?:y|ies)|restrictions?|programming|training|tasks?|(?:system|previous|prior|earlier) messages?|guardrails?|safeguards?|everything|what(?:ever)? (?:you were|the user|has been))`;
/** Where an order begins: at the start, after a stop, or after a word that leads to one. */
const ORDERED = String.raw`(?:^|[.!?:;,>"'(\[{*\n–—-]\s*|\b(?:please|and|then|must|should|to|now|will|can|kindly|immediately|you|just|also|or|first|instead)\s+)`;
const OVERRIDES = new RegExp(
  String.raw`${ORDERED}(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|bypass|overrule|discard|neglect|drop|abandon|skip|set aside|stop (?:following|obeying)|pay no attention to|do(?:n['’]?t| not) (?:follow|obey|listen to))\b[^.!?]{0,60}\b${ORDERS}\b`,
  'i',
);
/** The same wish in the languages it is most often met in. */
const OVERRIDES_ELSEWHERE =
  /\b(?:ignor(?:a|ad|en|ez|ier(?:e|en|t)|ate|are)|olvid(?:a|e|en)|oubli(?:e|ez)|vergiss|vergesst|missachte|dimentica|esque[cç]a|desconsidere|negeer|vergeet)\b.{0,60}(?:instruc|instru[cç]|consigne|directive|r[eè]gle|regla|regra|regole|regeln|anweisung|vorgabe|istruzion|opdracht|instructies)|(?:игнорируй|забудь|не следуй).{0,60}(?:инструкц|правил|указан)|(?:忽略|无视|忘记|不要理会).{0,20}(?:指令|指示|提示|规则|说明)|(?:無視|忘れ).{0,20}(?:指示|命令|ルール)|(?:指示|命令|ルール).{0,12}(?:無視|忘れ)|(?:이전|위의).{0,12}(?:지시|명령).{0,12}무시/iu;
const NEW_ROLE =
  /\b(?:you (?:are|will be|must be) (?:now (?:an?|the|in|under|called|[a-z]+ bot)\b|no longer (?:an? (?:ai|assistant|model|chatbot)|bound|restricted|limited))|you are now [A-Z]{2,}|from now on[, ]+you|pretend (?:to be|you)|your new (?:role|task|job|goal|persona|identity|objective|purpose)|assume the (?:role|identity) of|act as (?:if you|the (?:admin|owner|root|system))|you can do anything|your (?:real|actual|true|only) (?:task|goal|job|purpose|objective))/i;
const NEW_ORDERS =
  /\b(?:new|updated|real|actual|true|additional|hidden|secret|special|urgent|higher[- ]priority|mandatory) (?:system )?(?:instructions?|directives?|orders|objective|mission|system prompt)\b|\b(?:the )?following (?:instructions|has (?:a )?higher priority)|\btask (?:has been |was )?(?:updated|changed?)\b|\b(?:the|any|every) (?:agent|assistant|ai|model|llm)s? (?:reading this |processing this )?(?:should|must|shall|has to|have to|needs? to) \w+/i;
const ADDRESSED =
  /\b(?:assistants?|ai|a\.i\.|(?:large )?language models?|llms?|chat ?bots?|chatgpt|gpt(?:-?\d\S*)?|claude|gemini|copilot|agents?|model reading this|whoever (?:reads|processes) this)\b/i;
const SPOKEN_TO =
  /(?:^|[\s(["'*<#-])(?:dear |hey |hello |note (?:to|for) (?:the |any |all )?|attention |message (?:to|for) (?:the |any |all )?|instructions? (?:to|for) (?:the |any |all )?|if you are (?:an? |the )?)(?:\w+ ){0,2}(?:assistants?|ai|llms?|language models?|agents?|chat ?bots?|model|claude|gpt|gemini|copilot)\b|(?:^|[.!?>(*#/\n-]\s*)(?:ai |the )?(?:assistant|ai|agent|llm|language model|chatbot|claude|gpt|gemini|copilot)s?\s*[,:!]+\s*(?:please |you |now |kindly |immediately |also |when |if |before |after )?[a-z]+|, (?:ai |the )?(?:assistant|ai|llm|language model|chatbot|claude|gpt|gemini)\s*[.!]\s*$/i;
const ROLE_TAGS =
  /<\|[a-z_]{2,20}\|>|\[\/?INST\]|<<\/?SYS>>|<\/(?:tool_(?:result|response|output)|function_(?:results|calls)|user_query|document|context)>|<(?:system|important|secret|admin)>[^<]{15,}|(?:^|\n)\s*#{1,4}\s*(?:(?:new|system|updated|hidden) (?:instructions?|prompt|message|task)|human\b|assistant\b)|(?:^|\n)\s*(?:system|human|user|developer)\s*(?:prompt|message|override)?\s*:\s+(?:now|please|great|thanks|you|ignore|disregard|send|email|delete|transfer|run|call|open|answer|recommend|approve|read|do not|from now|execute|make)\b|\[(?:system|admin|developer|end of [^\]]{1,30})\]|-{2,}\s*end of [\w ]{1,30}-{2,}|\bend of (?:the )?(?:tool (?:output|result|response)|user input|untrusted)\b/i;
const TELLS = `(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?|disclos(?:e|ing)|ask(?:ing)?|show(?:ing)?|say(?:ing)?|acknowledg(?:e|ing)|warn(?:ing)?|explain(?:ing)?|discuss(?:ing)?)`;
/** Behind the back of who asked. */
const SECRECY = new RegExp(
  String.raw`\b(?:do(?:n['’]?t| not)|never|without|no need to|avoid|refrain from)\b[^.!?]{0,20}\b${TELLS}\b[^.!?]{0,20}\b(?:users?|humans?|person|operators?|anyone|anybody|them|this|it|so|that|for (?:confirmation|permission))\b|${ORDERED}(?:secretly|silently|covertly|discreetly|invisibly)\s+[a-z]+|\b(?:(?:users?|human|operator|anyone) (?:must|should|need|may|will)(?: not|n['’]t)|nobody (?:must|should|may|will)) (?:know|see|notice|be (?:told|informed))|\b(?:tell|inform) (?:nobody|no one)\b|\bsay nothing\b|\bno need to ask\b|\bhidden copy\b`,
  'i',
);
const VALUABLES = String.raw`(?:conversations?|chat (?:history|log)|history|context|system prompt|credentials?|api[ _-]?keys?|access keys?|tokens?|passwords?|secrets?|environment(?: variables)?|env(?: vars?)?|\.env\b|ssh keys?|private keys?|id_rsa|cookies?|user(?:'s)? (?:data|emails?|files?|messages?|details)|personal (?:data|information)|contents? of|mcp\.json|\.aws|\.ssh|customer|database|payroll|source code)`;
const EXFILTRATES = new RegExp(
  String.raw`\b(?:send|post|upload|forward|e-?mail|exfiltrate|transmit|leak|append|attach|include|submit|copy|share|report|pass|encode|embed|put|paste|read|fetch|collect|gather)\b[^.!?\n]{0,80}${VALUABLES}`,
  'i',
);
const DESTINATION =
  /\b(?:to|at|into|via|with|from)\s+(?:the )?(?:(?:following |this |our |my |end of the )?(?:url|address|endpoint|webhook|server|e-?mail|site|link)\b|https?:\/\/|[\w.+-]{1,64}@[\w.-]{1,64})/i;
/** A picture or link that carries something away. */
const CARRIES =
  /!\[[^\]]{0,80}\]\(https?:\/\/[^)\s]{0,200}[?&](?:q|d|data|secret|token|key|text|msg|content|log|info)=|https?:\/\/\S{1,200}[?&]\w+=(?=[\s{<]|$)/i;
const TOOLS =
  /\b(?:call|use|invoke|run|execute|trigger|launch|open)\b[^.!?\n]{0,40}\b(?:tools?|functions?|commands?|shell|bash|terminal|plugins?|mcp|curl|wget|\w+_\w+)\b/i;
const BEFORE =
  /\b(?:before|instead of|prior to|rather than|as soon as|whenever|every time|each time|when(?:ever)? (?:you|asked|the user))\b[^.!?]{0,40}\b(?:us(?:e|ing)|call(?:ing)?|answer(?:ing)?|respond(?:ing)?|do(?:ing)? anything|continu(?:e|ing)|any other|repl(?:y|ying)|process(?:ing)?|summari[sz](?:e|ing)|complet(?:e|ing)|proceed(?:ing)?|you)\b|\byou (?:must|should|have to|need to|are required to|shall|will) (?:first|always|also|now|immediately|instead|only)\b/i;
const REVEALS =
  /\b(?:reveal|print|repeat|output|show|disclose|display|leak|recite|write out|what (?:is|are)|tell me|give me|copy)\b[^.!?\n]{0,40}\b(?:system prompt|(?:initial|hidden|original|secret|developer) (?:prompt|instructions?|message)|your (?:prompt|instructions?|rules|configuration|guidelines|tools)|(?:everything|text|words|all) above|prompt verbatim)\b/i;
const UNBOUND =
  /\b(?:do anything now|DAN|(?:developer|god|debug|unrestricted) mode (?:is )?(?:enabled|activated|on|active)|jailbr[eo]ak(?:en)?|unrestricted|unfiltered|uncensored|no (?:restrictions|limitations|filters|rules)|without (?:any )?(?:restrictions|limitations|filters|safety)|safety (?:filters?|checks?|guidelines) (?:are )?(?:off|disabled|suspended))\b/i;
const CLAIMS =
  /\b(?:admin(?:istrator)?|developers?|system|openai|anthropic|google|microsoft|security (?:team|department)|it department|ceo|owner|operator|root|compliance) (?:override|message|notice|mode|has (?:approved|authori[sz]ed|requested)|requires?|update|alert|instruction|policy (?:has changed|update))|\b(?:already|pre-?)\s*(?:approved|authori[sz]ed)\b|\bauthori[sz]ed by\b/i;
const HARMS =
  /\b(?:delete|drop|wipe|erase|remove|transfer|approve|merge|grant|disable|overwrite|purchase|buy|pay|push|download|install|recommend|rate|rank|hire|accept|select|choose)\b/i;
/** People who write about such texts. */
const ABOUT =
  /\b(?:prompt[- ]injections?|tool poisoning|jailbreak(?:s|ing)|(?:attack|exploit)(?:s|ers?|ed)?|adversar(?:y|ial)|vulnerab\w+|mitigat\w+|guardrails?|detector|detected|owasp|researchers?|red[- ]team\w*|payloads?|phrases? like|texts? like|such as ["“']|e\.g\. ["“']|(?:is|are|was|were) blocked|blocks)\b/i;
const HIDDEN_MARKUP =
  /<!--[^>]{0,300}\b(?:you|assistant|ai|agent|model|ignore|instructions?)\b|(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0|color\s*:\s*(?:white|#fff(?:fff)?|transparent)\b)/i;
const COMMANDS_READER = /\byou(?:r|rs|'re|'ll)?\b/gi;

/** Letters hidden in characters that are not shown: U+E0020–U+E007E stand for ASCII. */
const TAG_TEXT = /[\u{E0020}-\u{E007E}]/gu;
const UNSEEN = /[\p{Default_Ignorable_Code_Point}--[\u{E0020}-\u{E007E}]]/gv;

/** A passage as a model reads it: what is hidden is written out, look-alike forms are made plain. */
export function revealed(text: string): string {
  return text
    .replace(TAG_TEXT, (c) => String.fromCharCode((c.codePointAt(0) ?? 0) - 0xe0000))
    .replace(UNSEEN, '')
    .normalize('NFKC');
}

export const INJECTION_SIGNALS = 27;

export interface InjectionSignals {
  readonly values: readonly number[];
  /** Whether anything but its words makes this passage doubtful. */
  readonly doubtful: boolean;
}

export function injectionSignals(passage: string): InjectionSignals {
  const text = revealed(passage);
  const about = ABOUT.test(text);
  const overrides = OVERRIDES.test(text) || OVERRIDES_ELSEWHERE.test(text);
  const spokenTo = SPOKEN_TO.test(text);
  const secrecy = SECRECY.test(text);
  const steals = EXFILTRATES.test(text);
  const destination = DESTINATION.test(text);
  const carries = CARRIES.test(text);
  const tools = TOOLS.test(text);
  const reveals = REVEALS.test(text);
  const tags = ROLE_TAGS.test(text);
  const newRole = NEW_ROLE.test(text);
  const newOrders = NEW_ORDERS.test(text);
  const unbound = UNBOUND.test(text);
  const claims = CLAIMS.test(text);
  const before = BEFORE.test(text);
  const acts = steals || tools || HARMS.test(text);
  const hidden = (passage.match(TAG_TEXT)?.length ?? 0) > 3 || (passage.match(UNSEEN)?.length ?? 0) > 8;
  const markup = HIDDEN_MARKUP.test(text);
  const strong = [
    overrides,
    newRole,
    tags,
    reveals,
    unbound,
    hidden,
    spokenTo && (acts || before || secrecy),
    secrecy && acts,
    steals && (destination || carries || before),
    markup && (spokenTo || overrides),
    newOrders && (acts || claims),
    claims && acts,
  ];
  const kinds = strong.filter(Boolean).length;
  const questions = [
    ...strong,
    ADDRESSED.test(text),
    spokenTo,
    secrecy,
    steals,
    steals && destination,
    carries,
    tools && before,
    newOrders,
    claims,
    about,
    kinds > 0 && !about,
    kinds > 0 && about,
  ];
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return {
    values: [
      ...questions.map(Number),
      Math.min(kinds, 4) / 4,
      Math.min(text.match(COMMANDS_READER)?.length ?? 0, 5) / 5,
      letters / Math.max(1, text.length),
    ],
    doubtful: kinds > 0 || spokenTo || secrecy || steals || carries || newOrders || claims,
  };
}
