import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

// One word for one idea: paraphrases of usual terms, and what to write instead. docs/glossary.md shows the same list.

const replacements: readonly (readonly [avoid: RegExp, instead: string, write: string])[] = [
  [/\b(?:is|are) no JSON\b/, 'is no JSON', 'invalid JSON'],
  [/\bhears? of (?:errors|failures)/, 'hears of failures', 'called with errors that it recovers from'],
  [/\b(?:goes|go|going) on from\b/, 'goes on from', 'recovers from, continues after'],
  [/\b(?:is|was|are|being|be|been|gets) worked out\b|\bworks? (?:them|it|batches) out\b/i, 'is worked out', 'is processed, is computed'],
  [/\bdeeds?\b/i, 'deed', 'behavior, event'],
  [/\berrands?\b/i, 'errand', 'task, outbound call'],
  [/\bwhoever\b/i, 'whoever', 'the caller, the user, the owner'],
  [/\b(?:is|was) told (?:of|that|how|so)\b|\bare told (?:of|that|so)\b/, 'is told', 'is notified, gets, receives'],
  [/\b(?:stands|stand) (?:in|behind|beside) (?:the|a|an|its|quotes|what)\b/, 'stands in', 'is in, is written in'],
  [/\bmay have been meant\b/, 'may have been meant', 'likely name, suggestion'],
  [/\bthat (?:is|are) not there\b/, 'that is not there', 'missing, unknown'],
  [/\b(?:made|make|makes|written|write|writes|read|reads|begun) anew\b/, 'made anew', 'rebuilt, rewritten, read again'],
  [/\blets? go of\b/, 'lets go of', 'releases, closes'],
  [/\bhas (?:its|their) turn\b|\bin (?:its|their) turn\b|\bturns? in between\b/, 'has its turn', 'is scheduled, yields to'],
  [/\bbring(?:s|ing)? (?:\w+ ){0,3}into the store\b/, 'brings into the store', 'applies'],
  [/\bnot in the store yet\b/, 'not in the store yet', 'not applied'],
  [/\bunpacks? (?:to|no)\b/, 'unpacks to', 'decompresses to'],
  [/\banswered for\b/, 'answered for', 'acknowledged'],
  [/\bcannot stand\b/, 'cannot stand', 'type mismatch'],
  [/\bput (?:it|them|the file|the project's folder) back from\b/, 'put it back from', 'restore it from'],
  [/\bof its own accord\b/, 'of its own accord', 'by itself, automatically'],
  [/\b(?:as|wherever) (?:it|they) stands?\b/, 'as it stands', 'unchanged, the current state'],
  [/\btold (?:apart|from)\b/, 'told apart', 'distinguished'],
  [/\bnobody (?:wrote|writes)\b/, 'nobody wrote', 'generated'],
  [/\bof ours\b/, 'of ours', 'generated, internal'],
  [/\bnow and then\b/, 'now and then', 'regularly, at intervals'],
  [/\bmend(?:s|ed|ing)?\b/, 'mended', 'repaired, fixed'],
  [/\b(?:so many times|[Ff]or so long a)\b/, 'so many times', 'how often, after this many'],
  [/\bas though\b/, 'as though', 'as if'],
  [/\bbegun again\b/, 'begun again', 'restarted'],
  [/\bhalf way\b/, 'half way', 'halfway'],
  [/\bclocks? on the wall\b/, 'clock on the wall', 'local time'],
  [/\bin other words\b/, 'in other words', 'equivalent'],
  [/\bmay be meant\b/, 'may be meant', 'likely name, suggestion'],
  [/\bgives? way to\b/, 'gives way to', 'yields to'],
  [/\bknows? nothing of\b/, 'knows nothing of', 'does not depend on, ignores'],
]

const root = join(import.meta.dirname, '..')
/** These pages are generated from the registry of functions; its sources are checked. */
const generated = new Set(['docs/functions.md', 'docs/differences.md'])
const filesIn = (folder: string, end: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name}`)
const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8')

test('sources and docs use the usual terms', () => {
  const files = [
    ...filesIn('src', '.ts'),
    ...filesIn('src', '.tsx'),
    ...filesIn('docs', '.md'),
    'README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'bench/README.md',
  ]
  const found = files
    .filter((file) => !generated.has(file))
    .flatMap((file) => {
      const [text = ''] = readFileSync(join(root, file), 'utf8').split('## Words to avoid')
      return text
        .split('\n')
        .flatMap((line, i) =>
          replacements.filter(([avoid]) => avoid.test(line)).map(([, , write]) => `${file}:${i + 1}: ${line.trim()} => write "${write}"`),
        )
    })
  expect(found).toEqual([])
})

test('the glossary lists the words to avoid', () => {
  for (const [, instead, write] of replacements) expect(glossary).toContain(`| ${instead} | ${write} |`)
})

test('each pattern finds its own example', () => {
  for (const [avoid, instead] of replacements)
    expect([instead, [instead, `${instead} the`, `${instead} that`].some((text) => avoid.test(text))]).toEqual([instead, true])
})

test('no half of a merge is left in sources or documents', () => {
  const files = [...filesIn('src', '.ts'), ...filesIn('src', '.tsx'), ...filesIn('docs', '.md'), 'README.md', 'CHANGELOG.md']
  const marked = files.filter((file) => /^(?:<<<<<<<|>>>>>>>) /m.test(readFileSync(join(root, file), 'utf8')))
  expect(marked).toEqual([])
})
