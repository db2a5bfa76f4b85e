/** What somebody pasted or dropped: objects, which become a session, or other text, whose scheduler messages are explained. */

/** The longest text that is explained without a session, in characters. */
export const MAX_TEXT_LENGTH = 2_097_152;

/** A described node, of which an object can be made: `Allocatable:` below the name. */
const NAME = /(?:^|\n)Name:[ \t]+\S/;
const ALLOCATABLE = /\nAllocatable:[ \t]*\r?\n/;
const OBJECTS = /(?:^|[\s{,"])apiVersion"?\s*:|(?:^|\n)[ \t>"']*(?:kind|containers)"?\s*:\s|Dump of cached NodeInfo/;
const SPEC = /(?:^|[\s{,"])(?:spec|containers)"?\s*:/;
/** What messages about pods that wait or were not created begin with or contain, by their writers. `tests/pastedMessages.json` has a text of each kind that `ingest/pasted` finds. */
const MESSAGES: readonly RegExp[] = [
  // kube-scheduler, and its log.
  /\d\/(?:\d+|[xXnN*#?]{1,7}|<[a-zA-Z-]+>)\s+nodes\s+are\s+(?:un)?available/,
  /No nodes are available that match|failed to fit in any node|no nodes (?:are )?available to schedule pods/,
  /[Uu]nable to schedule pod|Error scheduling |[Ll]eaderelection lost|[Ff]ailed to renew lease/,
  // Reasons of events.
  /\b(?:FailedScheduling|NotTriggerScaleUp|TriggeredScaleUp|FailedScaleUp|FailedCreate)\b/,
  // KAI Scheduler, Volcano, YuniKorn and Kueue.
  /No nodes with enough resources were found|tasks in gang unschedulable|queue resource quota insufficient|resource in cluster is overused/,
  /is queued and waiting for allocation|is (?:skipped from scheduling because|pending for the requested resources)/,
  /couldn't assign flavors to pod set |(?:Local|Cluster)Queue \S+ (?:doesn't exist|is inactive|is stopped)/,
  // The cluster autoscaler, and its log.
  /[Pp]od (?:didn't trigger|triggered) scale-up|Node scale up in zones |can't be scheduled on|failed to find place for /,
  // Karpenter, and its log.
  /(?:[Cc]ould not|[Ff]ailed to) schedule pod|ignoring pod, |Pod should schedule on: |unavailable during launch/,
  /unable to resolve instance types|failed listing instance types|no (?:nodepools|provisioners) found|[nN]ode[pP]ool,? not ready/,
  // The API server.
  /Error creating(?: [a-z]+ pod)?: |pods\s"[^"\n]+"\sis\sforbidden:|create Pod \S+ in StatefulSet \S+ failed error: /,
];
const MESSAGE = new RegExp(MESSAGES.map(({ source }) => source).join("|"));

/** Whether a text has objects to import. Events and the status of a pod have messages and no specification. */
export function hasObjects(text: string): boolean {
  if (hasDescribedNode(text)) return true;
  return OBJECTS.test(text) && !(MESSAGE.test(text) && !SPEC.test(text));
}

function hasDescribedNode(text: string): boolean {
  const name = text.search(NAME);
  return name >= 0 && ALLOCATABLE.test(text.slice(name));
}

/** A described node, a dump of the scheduler's cache, or the object of a node, in YAML and in JSON. That of an owner or of an event is deeper, or has no `metadata` next. */
const NODE = /Dump of cached NodeInfo|"kind"\s*:\s*"Node",\s*"(?:metadata|spec|status)"|(?:^|\n)(?:- | {2})?kind:[ \t]*Node\s|[\s{,"](?:allocatable|kubeletVersion)"?\s*:|\bNodeList\b/;

/** Whether a text has objects, and no nodes on which its pods could be tried: what it says about them is explained without a session. */
export function hasNoNodes(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && hasObjects(text) && !hasDescribedNode(text) && !NODE.test(text);
}

/** A pod, in YAML or JSON, or the description of one. Its kind, deeper in the text, may be that of what an event is about. */
const POD_KIND = /(?:^|[\s{,"])kind"?\s*:\s*"?Pod(?:List)?\b/;
const POD_OBJECT = /"kind"\s*:\s*"Pod(?:List)?",\s*"(?:metadata|spec|status)"|(?:^|\n)(?:- )?kind:[ \t]*Pod(?:List)?\s/;
const CONTAINERS = /[\s{,"]containers"?\s*:/;
const DESCRIBED_POD = /(?:^|\n)(?:Init )?Containers:/;

/** Whether a text has objects, such as nodes, and no pod of which a session could say why it waits. */
export function hasNoPods(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && hasObjects(text) && !(POD_KIND.test(text) && CONTAINERS.test(text)) && !POD_OBJECT.test(text) && !DESCRIBED_POD.test(text) && !text.includes("Dump of cached NodeInfo");
}

/** Whether messages of the scheduler can be explained if an import finds no objects in the text. */
export function mayHaveMessages(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && MESSAGE.test(text);
}

/** What no terminal or chat shows: binary files; JSON, YAML, tables of commas and logs, which imports read. */
const OF_IMPORTS = /\0|^\s*(?:[{[<#]|---|[a-z][\w-]*:|[^\n,]+,[^\n,]+,[^\n]+\n)|^[IWEF]\d{4} /;

/** Whether a text without objects looks like what somebody copied from a terminal or a chat, so that an import would find nothing in it. */
export function isCopied(text: string): boolean {
  return text.trim() !== "" && text.length <= MAX_TEXT_LENGTH && !OF_IMPORTS.test(text) && !text.includes("\uFFFD") && !hasObjects(text);
}

/** Whether a text has messages of the scheduler and no objects. */
export function hasMessagesAlone(text: string): boolean {
  return MESSAGE.test(text) && !hasObjects(text);
}

/** A manifest of a pod in YAML, up to the end of its document, and the members of its metadata, on lines of their own or between braces. */
const POD = /^kind:[ \t]*Pod[ \t]*\r?$/m;
const METADATA = /^metadata:[ \t]*(?:\{[^}\n]*\}|\r?\n(?:[ \t]+[^\n]*(?:\n|$))+)/m;

/** `namespace/name` of the only pod whose manifest is in the texts; "": there is none, or there are several. */
export function onlyPodOf(texts: readonly string[]): string {
  const pods = texts.flatMap((text) => text.split(/^---/m)).filter((document) => POD.test(document));
  if (pods.length !== 1) return "";
  const metadata = METADATA.exec(pods[0]!)?.[0] ?? "";
  // A member of the metadata itself is indented least.
  const indent = /\n([ \t]+)\S/.exec(metadata)?.[1] ?? "";
  const member = (name: string): string => new RegExp(`(?:\\n${indent}|[{,][ \\t]*)${name}:[ \\t]*["']?([a-z0-9][a-z0-9.-]*)`).exec(metadata)?.[1] ?? "";
  return member("name") && `${member("namespace") || "default"}/${member("name")}`;
}

/** The texts to explain: each with messages goes with the nodes, and the only pod, that are in texts of their own. */
export function withObjects(texts: readonly string[]): readonly string[] {
  const pod = onlyPodOf(texts);
  const objects = texts.filter((text) => !MESSAGE.test(text) && ((hasNoPods(text) && !hasNoNodes(text)) || (pod && onlyPodOf([text]) === pod && hasNoNodes(text))));
  const others = texts.filter((text) => !objects.includes(text));
  if (!objects.length || !others.some((text) => MESSAGE.test(text))) return texts;
  const joined = others.map((text) => [text, ...objects].join("\n---\n"));
  return joined.every((text) => text.length <= MAX_TEXT_LENGTH) ? joined : texts;
}
