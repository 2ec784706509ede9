import { InternalError } from '../../../errors/errors.ts'
import { arrayOf, isNullable, isText, type SqlType, scalar, tupleOf } from '../../types/types.ts'
import { once } from '../cells/duckdb-values.ts'
import { always } from '../results.ts'
import { type Arity, type FunctionRow, functions, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Functions of the product besides the language. Those that need data which this engine does not have say so.

const neither = (args: number | Arity, returns: FunctionRow['returns'], summary: string, reason: string): ScalarSpec => ({
  args,
  returns,
  summary,
  duckdb: unsupported(reason),
  clickhouse: unsupported(reason),
  cases: [],
})

/** The resolver replaces it by the expression of the catalog. */
const replaced =
  (name: string): SqlCell =>
  () => {
    throw new InternalError(`${name} is left in a finished plan`)
  }
const expanded = (
  name: string,
  args: number | Arity,
  returns: FunctionRow['returns'],
  summary: string,
  cases: FunctionRow['cases'],
): ScalarSpec => ({ args, returns, summary, duckdb: replaced(name), clickhouse: replaced(name), cases })
const channel = (name: string, what: string, cases: FunctionRow['cases']): ScalarSpec =>
  expanded(name, 1, () => scalar('String', true), `The kind of channel of ${what}; null if it is not known.`, cases)
const agent = (name: string, summary: string, cases: FunctionRow['cases']): ScalarSpec => expanded(name, 1, bot(name), summary, cases)
const bot = (name: string) => () => scalar(name === 'isLikelyBot' ? 'Bool' : 'String')
const internal = 'it is a part of $channel_type, which is read from sessions'

const versionPattern = 'v?(\\d+)\\.(\\d+)\\.(\\d+)(?:[-+].*)?'
const numbers: SqlType = arrayOf(scalar('Int64', true))

/** Shown in a table as a drawing or a button: a tuple that names it. */
const drawn = (name: string, field: string, sample: unknown, more: readonly string[] = []): ScalarSpec => ({
  args: more.length ? [1, 2] : 1,
  returns: (types) =>
    tupleOf([
      scalar('String'),
      scalar('String'),
      scalar('String'),
      types[0]!,
      ...more.flatMap((_, i) => (types[i + 1] ? [scalar('String'), types[i + 1]!] : [])),
    ]),
  summary: `A cell that is shown as a ${name === 'Sparkline' ? 'line' : 'button'}.`,
  duckdb: tag('row', name, field, more),
  clickhouse: tag('tuple', name, field, more),
  cases: [[`${name === 'Sparkline' ? 'sparkline([1, 2])' : "recordingButton('s')"}`, ['__hx_tag', name, field, sample]]],
})
const tag =
  (maker: string, name: string, field: string, more: readonly string[]): SqlCell =>
  (args) => {
    const parts = [
      `'__hx_tag'`,
      `'${name}'`,
      `'${field}'`,
      args[0]!.sql,
      ...more.flatMap((other, i) => (args[i + 1] ? [`'${other}'`, args[i + 1]!.sql] : [])),
    ]
    return `${maker}(${parts.join(', ')})`
  }

const funnelReason = 'use a FunnelsQuery for funnels'
const funnel = (args: number): ScalarSpec => neither(args, always('String'), 'Part of how another product computes funnels.', funnelReason)
const funnelNames = ['', '_array', '_cohort'].flatMap((kind) => [
  [`aggregate_funnel${kind}`, 7] as const,
  [`aggregate_funnel${kind}_json`, 7] as const,
  [`aggregate_funnel${kind}_trends`, 8] as const,
  [`aggregate_funnel${kind}_trends_json`, 8] as const,
])

export const productFunctions = functions(
  scalars({
    sortablesemver: {
      args: 1,
      caseInsensitive: true,
      returns: () => numbers,
      summary: 'The three numbers of a version such as v1.2.3-beta, for sorting; [NULL] for other texts.',
      duckdb: ([x], context) =>
        once(context, x!.sql, (t) => {
          const part = (i: number) => `TRY_CAST(regexp_extract(${t}, '^${versionPattern}$', ${i}) AS BIGINT)`
          return `CASE WHEN regexp_full_match(${t}, '${versionPattern}') THEN [${part(1)}, ${part(2)}, ${part(3)}] ELSE [NULL] END`
        }),
      clickhouse: ([x]) => {
        const text = isText(x!.type) ? (isNullable(x!.type) ? `ifNull(${x!.sql}, '')` : x!.sql) : `toString(${x!.sql})`
        const pattern = versionPattern.replaceAll('\\', '\\\\')
        return `if(match(${text}, '^${pattern}$'), arrayMap(n -> toInt64OrNull(n), extractGroups(${text}, '^${pattern}$')), [NULL])`
      },
      cases: [
        ["sortableSemVer('1.2.3')", [1, 2, 3]],
        ["sortableSemVer('v1.20.3-beta+5')", [1, 20, 3]],
        ["sortableSemVer('1.2')", [null]],
        ["sortableSemVer('x')", [null]],
      ],
    },
    sparkline: drawn('Sparkline', 'data', [1, 2]),
    recordingButton: drawn('RecordingButton', 'sessionId', 's', ['recordingStatus']),
    matchesAction: {
      args: 1,
      returns: () => scalar('Bool'),
      summary: 'Whether an event matches an action, given by its id or name as a constant.',
      duckdb: replaced('matchesAction'),
      clickhouse: replaced('matchesAction'),
      cases: [],
    },
    getSurveyResponse: expanded(
      'getSurveyResponse',
      [1, 3],
      () => scalar('String', true),
      'The answer to a question of a survey, given the number of the question, from 0, its id, and whether several choices are possible.',
      [],
    ),
    uniqueSurveySubmissionsFilter: expanded(
      'uniqueSurveySubmissionsFilter',
      [1, 3],
      () => scalar('Bool'),
      'Whether an event is the last one of a submission of a survey, given by its id, between two times.',
      [],
    ),
    embedText: neither([1, 2], () => arrayOf(scalar('Float64')), 'The embedding of a text.', 'there is no language model here'),
    explainCSPReport: neither(1, always('String'), 'A report of a content security policy in words.', 'there is no language model here'),
    getBotName: agent('getBotName', 'The name of a bot by its user agent; empty for others.', [
      ["getBotName('Mozilla/5.0 (compatible; Googlebot/2.1)')", 'Googlebot'],
      ["getBotName('Mozilla/5.0 (Macintosh)')", ''],
    ]),
    getBotOperator: agent('getBotOperator', 'The operator of a bot, by its user agent; empty for others.', [
      ["getBotOperator('Mozilla/5.0 (compatible; GPTBot/1.2)')", 'OpenAI'],
      ["getBotOperator('Mozilla/5.0 (Macintosh)')", ''],
    ]),
    getBotType: agent('getBotType', 'The category of a bot by its user agent; empty for others.', [
      ["getBotType('curl/8.4.0')", 'http_client'],
      ["getBotType('Mozilla/5.0 (Macintosh)')", ''],
      ["getBotType('')", 'no_user_agent'],
    ]),
    getTrafficCategory: agent('getTrafficCategory', 'The category of a user agent: a kind of bot, or regular.', [
      ["getTrafficCategory('Mozilla/5.0 (compatible; AhrefsBot/7.0)')", 'seo_crawler'],
      ["getTrafficCategory('Mozilla/5.0 (Macintosh)')", 'regular'],
      ['getTrafficCategory(null)', 'no_user_agent'],
    ]),
    getTrafficType: agent('getTrafficType', 'AI Agent, Bot, Automation or Regular, by a user agent.', [
      ["getTrafficType('Mozilla/5.0 (compatible; ClaudeBot/1.0)')", 'AI Agent'],
      ["getTrafficType('Mozilla/5.0 (compatible; BINGBOT/2.0)')", 'Bot'],
      ["getTrafficType('')", 'Automation'],
      ["getTrafficType('Mozilla/5.0 (Macintosh)')", 'Regular'],
    ]),
    isLikelyBot: agent('isLikelyBot', 'Whether a user agent looks like a bot or a program; true if it is missing.', [
      ["isLikelyBot('python-requests/2.31')", 1],
      ["isLikelyBot('Mozilla/5.0 (Macintosh)')", 0],
      ['isLikelyBot(null)', 1],
    ]),
    ...Object.fromEntries(
      ['getBotName', 'getBotOperator', 'getBotType', 'getTrafficCategory', 'getTrafficType', 'isBot'].map((name) => {
        const [old, now] = [`__preview_${name}`, name === 'isBot' ? 'isLikelyBot' : name]
        return [old, { ...agent(old, `The former name of ${now}.`, [[`${old}('Googlebot') = ${now}('Googlebot')`, 1]]), returns: bot(now) }]
      }),
    ),
    lookupDomainType: channel('lookupDomainType', 'a domain', [
      ["lookupDomainType('www.google.com')", 'Search'],
      ["lookupDomainType('example.com')", null],
    ]),
    lookupOrganicMediumType: channel('lookupOrganicMediumType', 'a medium without payment', [
      ["lookupOrganicMediumType('social')", 'Organic Social'],
      ["lookupOrganicMediumType('email')", 'Email'],
      ['lookupOrganicMediumType(null)', null],
    ]),
    lookupOrganicSourceType: channel('lookupOrganicSourceType', 'a source without payment', [
      ["lookupOrganicSourceType('m.youtube.com')", 'Organic Video'],
      ["lookupOrganicSourceType('mine')", null],
    ]),
    lookupPaidMediumType: channel('lookupPaidMediumType', 'a paid medium', [
      ["lookupPaidMediumType('video')", 'Paid Video'],
      ["lookupPaidMediumType('email')", null],
    ]),
    lookupPaidSourceType: channel('lookupPaidSourceType', 'a paid source', [
      ["lookupPaidSourceType('google')", 'Paid Search'],
      ["lookupPaidSourceType('mail.google.com')", 'Paid Search'],
      ["lookupPaidSourceType('email')", null],
    ]),
    _defaultChannelType: neither([1, null], always('String'), 'Internal: the channel of a session.', internal),
    _domainType: neither([1, null], always('String'), 'Internal: the kind of a domain.', internal),
    ...Object.fromEntries(funnelNames.map(([name, args]) => [name, funnel(args)])),
    aggregate_funnel_test: funnel(7),
    aggregate_funnel_array_trends_test: funnel(8),
  }),
)
