import { and, call, equals, field, isIn, lambda, literal, or } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import { type Expansion, ofOne, once } from './expansion.ts'

// The marketing channel of a visit, from its first page: paid or not, and through which medium. Each source, medium and site belongs to one kind; some
// kinds have a paid and an unpaid channel. Everything but the names is computed in numbers, which have a fixed size.

/** Kinds by number, from 1, as `language/functions/values/channel-kinds.ts` gives them. */
const kinds = [
  'Search',
  'Social',
  'Video',
  'Shopping',
  'AI',
  'Email',
  'SMS',
  'Push',
  'Display',
  'Audio',
  'Affiliate',
  'Referral',
  'Direct',
] as const
type Kind = (typeof kinds)[number]
const numberOf = (kind: Kind): number => kinds.indexOf(kind) + 1
const numberFor = (kind: Kind): Expr => literal(numberOf(kind))
/** Kinds with a paid and an unpaid channel. */
const twoSided: readonly Kind[] = ['Search', 'Social', 'Video', 'Shopping']
const paidKinds: readonly Kind[] = [...twoSided, 'Display']
/** Kinds that a domain alone decides. */
const domainKinds: readonly Kind[] = [...twoSided, 'AI', 'Email']
const paidMediums = ['cpc', 'cpm', 'cpv', 'cpa', 'ppc', 'retargeting']

export interface VisitFacts {
  readonly campaign: Expr
  readonly medium: Expr
  readonly source: Expr
  readonly referringDomain: Expr
  /** Set by a click on a Google advertisement. */
  readonly gclid: Expr
  readonly gadSource: Expr
  readonly fbclid: Expr
}

/** Computed columns, by name. */
export type VisitStep = Readonly<Record<string, Expr>>

const orEmpty = (expr: Expr) => call('ifNull', expr, literal(''))
const oneOf = (expr: Expr, words: readonly string[]) => isIn(expr, words.map(literal))
const matches = (expr: Expr, pattern: string) => call('match', expr, literal(pattern))
/** UTM parameters are null rather than empty. */
const isSet = (expr: Expr) => call('isNotNull', expr)
const isKnown = (kind: Expr) => call('greater', kind, literal(0))
const item = (list: Expr, i: number): Expr => call('arrayElement', list, literal(i + 1))
const number = (truth: Expr): Expr => call('if', truth, literal(1), literal(0))
const lowered = (text: Expr): Expr => orEmpty(call('lower', call('toString', text)))

/** Of a text that may be the address of a page: `www.google.com` of `https://www.google.com/search?q=shoes`. */
const hostOf = (text: Expr): Expr => call('extract', text, literal('(?s)^(?:[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?)?([^/?#:]*)'))
const siteOf = (host: Expr): Expr => call('cutToFirstSignificantSubdomain', call('concat', literal('https://'), host))
/** `ebay.` of `ebay.co.uk` and `ebay.de`. */
const beforeCountry = (domain: Expr): Expr => call('extract', domain, literal('^(.*?[.])(?:(?:com?|ne|net|or|org)[.])?[a-z][a-z]$'))

/** `news.ycombinator.com` is a source of its own; `www.google.com` and `uk.pinterest.com` are google.com and pinterest.com. */
const kindsOfSource = (host: Expr, site: Expr): Expr =>
  call(
    'arrayMap',
    lambda(['@domain'], call('_sourceKind', field('@domain'))),
    call('array', host, beforeCountry(host), site, beforeCountry(site)),
  )
const kindsOfMedium = (medium: Expr): Expr => call('array', call('_mediumKind', medium))

/** The first of the kinds that is one of these, or that is known at all; 0 if there is none. */
type Choice = (kinds: Expr) => Expr
const firstOf = (among?: readonly Kind[]): Choice => {
  const kind = field('@kind')
  const isAny = among ? isIn(kind, among.map(numberFor)) : isKnown(kind)
  return (kinds) => call('arrayFirst', lambda(['@kind'], isAny), kinds)
}
const [paid, unpaid, ofDomain] = [firstOf(paidKinds), firstOf(), firstOf(domainKinds)]

type Naming = (kind: Kind) => string
const nameOf = (number: Expr, among: readonly Kind[], naming: Naming): Expr[] =>
  among.flatMap((kind) => [equals(number, numberFor(kind)), literal(naming(kind))])
const paidName: Naming = (kind) => (twoSided.includes(kind) ? `Paid ${kind}` : kind)
const unpaidName: Naming = (kind) => (twoSided.includes(kind) ? `Organic ${kind}` : kind)

const ofSource = (text: Expr, choice: Choice): Expr =>
  once(hostOf(lowered(text)), '@host', (host) => once(kindsOfSource(host, siteOf(host)), '@kinds', choice))
const ofMedium = (text: Expr, choice: Choice): Expr => once(kindsOfMedium(lowered(text)), '@kinds', choice)
const named = (kind: Expr, among: readonly Kind[], naming: Naming): Expr =>
  once(kind, '@found', (found) => call('multiIf', ...nameOf(found, among, naming), literal(null)))

/** The kind or the channel of one value, null if it is unknown. */
export const channelLookups: Readonly<Record<string, Expansion>> = {
  lookupDomainType: ofOne((text) => named(ofSource(text, ofDomain), domainKinds, (kind) => kind)),
  lookupPaidSourceType: ofOne((text) => named(ofSource(text, paid), paidKinds, paidName)),
  lookupPaidMediumType: ofOne((text) => named(ofMedium(text, paid), paidKinds, paidName)),
  lookupOrganicSourceType: ofOne((text) => named(ofSource(text, unpaid), kinds, unpaidName)),
  lookupOrganicMediumType: ofOne((text) => named(ofMedium(text, unpaid), kinds, unpaidName)),
}

/** Texts in lower case, '' if missing; of a source and a domain the host. */
interface Texts {
  readonly campaign: Expr
  readonly medium: Expr
  readonly source: Expr
}
/** What is paid for, and what is not, of the kinds that are known of each. */
type Kinds = Readonly<Record<`${'paid' | 'unpaid'}_${'source' | 'medium' | 'domain'}`, Expr>>

/** What the channel depends on, in numbers. */
const campaignMarks = (campaign: Expr) => ({
  is_cross_network: number(matches(campaign, 'cross-network')),
  is_shop: number(matches(campaign, '(^|[^a-df-z])shop|shopping')),
  is_video: number(matches(campaign, 'video')),
})
/** Whether the medium is paid for, a push, or missing. */
const mediumTests = (medium: Expr): readonly [isPaid: Expr, isPush: Expr, isMissing: Expr] => [
  or(oneOf(medium, paidMediums), call('startsWith', medium, literal('paid'))),
  call('endsWith', medium, literal('push')),
  equals(medium, literal('')),
]
const isNoSource = (source: Expr): Expr => oneOf(source, ['', 'direct', '(direct)', '$direct'])
const clickMarks = ({ referringDomain, gclid, gadSource, fbclid }: VisitFacts) => ({
  is_paid_click: number(or(isSet(gclid), isSet(gadSource))),
  is_google_ad: number(equals(orEmpty(gadSource), literal('1'))),
  is_facebook_click: number(isSet(fbclid)),
  is_direct: number(equals(orEmpty(referringDomain), literal('$direct'))),
  is_referred: number(isSet(referringDomain)),
})
function marksOf({ campaign, medium, source }: Texts, visit: VisitFacts, kinds: Kinds) {
  const [isPaid, isPush, isMissing] = mediumTests(medium)
  const { is_paid_click, ...clicks } = clickMarks(visit)
  return {
    ...campaignMarks(campaign),
    is_paid: number(or(isPaid, isSet(visit.gclid), isSet(visit.gadSource))),
    is_push: number(isPush),
    is_plain: number(and(isMissing, isNoSource(source))),
    ...clicks,
    ...kinds,
  }
}
type Mark = keyof ReturnType<typeof marksOf>

/** Added to the kind of a paid channel. */
const paidOffset = 50
const crossNetwork = 100

/** The channel as a number; 0 if it is unknown. */
function channelNumber(read: (mark: Mark) => Expr): Expr {
  const is = (mark: Mark): Expr => isKnown(read(mark))
  const side = (name: 'paid' | 'unpaid', rest: readonly (readonly [when: Mark, then: Kind])[]) => {
    const [source, medium, domain] = (['source', 'medium', 'domain'] as const).map((of) => `${name}_${of}` as const)
    const known = [is(source!), read(source!), is('is_shop'), numberFor('Shopping'), is(medium!), read(medium!), is(domain!), read(domain!)]
    return call('multiIf', ...known, ...rest.flatMap(([when, then]) => [is(when), numberFor(then)]), literal(0))
  }
  const paidSide = side('paid', [
    ['is_google_ad', 'Search'],
    ['is_video', 'Video'],
    ['is_facebook_click', 'Social'],
  ])
  const unpaidSide = side('unpaid', [
    ['is_video', 'Video'],
    ['is_push', 'Push'],
    ['is_facebook_click', 'Social'],
    ['is_direct', 'Direct'],
    ['is_referred', 'Referral'],
  ])
  return call(
    'multiIf',
    ...[is('is_cross_network'), literal(crossNetwork)],
    ...[is('is_paid'), call('plus', paidSide, literal(paidOffset))],
    ...[and(is('is_direct'), is('is_plain'), equals(read('is_facebook_click'), literal(0))), numberFor('Direct')],
    unpaidSide,
  )
}

const channelName = (channel: Expr): Expr =>
  call(
    'multiIf',
    ...[equals(channel, literal(crossNetwork)), literal('Cross Network')],
    ...[equals(channel, literal(paidOffset)), literal('Paid Unknown')],
    ...paidKinds.flatMap((kind) => [equals(channel, literal(paidOffset + numberOf(kind))), literal(paidName(kind))]),
    ...nameOf(channel, kinds, unpaidName),
    literal('Unknown'),
  )

/**
 * The name of the channel, from the UTM parameters of the session's first page; `column` reads a column of previous steps. In steps, because an engine
 * evaluates a shared expression again in each branch that uses it.
 */
export function channelType(
  visit: VisitFacts,
  column: (name: string) => Expr,
): { readonly steps: readonly VisitStep[]; readonly channel: Expr } {
  const read = (name: string) => column(`channel_${name}`)
  const prefixed = (columns: VisitStep): VisitStep =>
    Object.fromEntries(Object.entries(columns).map(([name, expr]) => [`channel_${name}`, expr]))
  const texts = {
    campaign: lowered(visit.campaign),
    medium: lowered(visit.medium),
    source: hostOf(lowered(visit.source)),
    domain: hostOf(lowered(visit.referringDomain)),
  }
  const sites = { source_site: siteOf(read('source')), domain_site: siteOf(read('domain')) }
  const found = {
    source_kinds: kindsOfSource(read('source'), read('source_site')),
    medium_kinds: kindsOfMedium(read('medium')),
    domain_kinds: kindsOfSource(read('domain'), read('domain_site')),
  }
  const ofAll = (prefix: 'paid' | 'unpaid', choice: Choice) =>
    Object.fromEntries(['source', 'medium', 'domain'].map((of) => [`${prefix}_${of}`, choice(read(`${of}_kinds`))]))
  const kinds = { ...ofAll('paid', paid), ...ofAll('unpaid', unpaid) } as Kinds
  const marks = marksOf({ campaign: read('campaign'), medium: read('medium'), source: read('source') }, visit, kinds)
  const steps: readonly VisitStep[] = [texts, sites, found, marks, { number: channelNumber(read) }]
  return { steps: steps.map(prefixed), channel: channelName(read('number')) }
}

/**
 * The same as one expression, whose steps are parameters of lambdas. They are numbers: those have a size that is known. Each text is prepared once, and what
 * it says is packed into one number: its paid kind, its unpaid kind, and marks as bits.
 */
export function channelExpression(visit: VisitFacts): Expr {
  const packed = (kinds: Expr, bits: readonly Expr[]): Expr =>
    sum(
      ...bits.map((bit, i) => call('if', bit, literal(2 ** i), literal(0))),
      once(kinds, '@kinds', (all) =>
        sum(call('multiply', unpaid(all), literal(kindOffset)), call('multiply', paid(all), literal(kindOffset * kindsTogether))),
      ),
    )
  const campaign = once(lowered(visit.campaign), '@campaign', (text) =>
    sum(...Object.values(campaignMarks(text)).map((mark, i) => call('multiply', mark, literal(2 ** i)))),
  )
  const medium = once(lowered(visit.medium), '@medium', (text) => packed(kindsOfMedium(text), mediumTests(text)))
  const ofHost = (text: Expr, bits: (host: Expr) => readonly Expr[]): Expr =>
    once(hostOf(lowered(text)), '@host', (host) => packed(kindsOfSource(host, siteOf(host)), bits(host)))
  const source = ofHost(visit.source, (host) => [isNoSource(host)])
  const domain = ofHost(visit.referringDomain, () => [])
  const clicks = Object.values(clickMarks(visit))
  const places = { source: 0, medium: 1, domain: 2, campaign: 3 } as const
  const channel = once(call('array', source, medium, domain, campaign, ...clicks), '@marks', (values) => {
    const part = (of: keyof typeof places, unit: number, count: number) =>
      call('modulo', call('intDiv', item(values, places[of]), literal(unit)), literal(count))
    const bit = (of: keyof typeof places, i: number) => part(of, 2 ** i, 2)
    const kindOf = (of: 'source' | 'medium' | 'domain', side: number) => part(of, side, kindsTogether)
    const click = Object.keys(clickMarks(visit))
    const each = (names: readonly string[], read: (i: number) => Expr) => names.map((name, i) => [name, read(i)] as const)
    const kinds = (['source', 'medium', 'domain'] as const).flatMap((of) => [
      [`unpaid_${of}`, kindOf(of, kindOffset)] as const,
      [`paid_${of}`, kindOf(of, kindOffset * kindsTogether)] as const,
    ])
    const marks = Object.fromEntries([
      ...each(Object.keys(campaignMarks(campaign)), (i) => bit('campaign', i)),
      ...each(click, (i) => item(values, 4 + i)),
      ...kinds,
      ['is_paid', call('plus', bit('medium', 0), item(values, 4 + click.indexOf('is_paid_click')))],
      ['is_push', bit('medium', 1)],
      ['is_plain', call('multiply', bit('medium', 2), bit('source', 0))],
    ]) as Readonly<Record<Mark, Expr>>
    return channelNumber((mark) => marks[mark])
  })
  return once(channel, '@channel', channelName)
}
const sum = (...parts: readonly Expr[]): Expr => parts.reduce((left, right) => call('plus', left, right))
/** More than there are kinds. */
const kindsTogether = 16
/** Above the bits. */
const kindOffset = 8
