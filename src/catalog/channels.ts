import { and, call, equals, isIn, literal, not, or } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import { type Expansion, ofOne, once } from './expansion.ts'

// The marketing channel of a visit, from its first page: paid or not, and through which medium. Each source, medium and site belongs to one kind; some
// kinds have a paid and an unpaid channel.

/** Kinds with a paid and an unpaid channel. */
const sites = {
  Search: [
    'google',
    'google.com',
    'adwords',
    'googleads',
    'bing',
    'bing.com',
    'yahoo',
    'yahoo.com',
    'search.yahoo.com',
    'duckduckgo',
    'duckduckgo.com',
    'baidu',
    'baidu.com',
    'yandex',
    'yandex.ru',
    'yandex.com',
    'ecosia',
    'ecosia.org',
    'ask',
    'ask.com',
    'aol',
    'aol.com',
    'brave',
    'search.brave.com',
    'qwant',
    'qwant.com',
    'startpage',
    'startpage.com',
    'naver',
    'naver.com',
    'seznam',
    'seznam.cz',
    'kagi',
    'kagi.com',
    'sogou',
    'so.com',
    'msn',
    'msn.com',
    'search',
    'lycos',
    'lycos.com',
    'presearch',
    'swisscows',
    'swisscows.com',
    'mojeek',
    'perplexity',
    'perplexity.ai',
    'chatgpt.com',
  ],
  Social: [
    'facebook',
    'facebook.com',
    'fb',
    'fb.com',
    'l.facebook.com',
    'lm.facebook.com',
    'm.facebook.com',
    'meta',
    'instagram',
    'instagram.com',
    'l.instagram.com',
    'ig',
    'twitter',
    'twitter.com',
    't.co',
    'x',
    'x.com',
    'linkedin',
    'linkedin.com',
    'lnkd.in',
    'reddit',
    'reddit.com',
    'out.reddit.com',
    'old.reddit.com',
    'pinterest',
    'pinterest.com',
    'tiktok',
    'tiktok.com',
    'snapchat',
    'snapchat.com',
    'quora',
    'quora.com',
    'tumblr',
    'tumblr.com',
    'vk',
    'vk.com',
    'whatsapp',
    'whatsapp.com',
    'telegram',
    'telegram.org',
    't.me',
    'discord',
    'discord.com',
    'threads.net',
    'mastodon',
    'mastodon.social',
    'bsky.app',
    'bluesky',
    'hackernews',
    'news.ycombinator.com',
    'ycombinator',
    'weibo',
    'weibo.com',
    'wechat',
    'line.me',
    'nextdoor.com',
    'xing',
    'xing.com',
    'medium.com',
    'substack',
    'substack.com',
    'producthunt',
    'producthunt.com',
    'stackoverflow.com',
  ],
  Video: [
    'youtube',
    'youtube.com',
    'm.youtube.com',
    'youtu.be',
    'vimeo',
    'vimeo.com',
    'twitch',
    'twitch.tv',
    'dailymotion',
    'dailymotion.com',
    'netflix',
    'netflix.com',
    'hulu',
    'hulu.com',
    'disneyplus',
    'disneyplus.com',
    'wistia',
    'wistia.com',
    'bilibili.com',
    'iqiyi.com',
    'rumble.com',
    'ted.com',
  ],
  Shopping: [
    'amazon',
    'amazon.com',
    'amazon.co.uk',
    'amazon.de',
    'ebay',
    'ebay.com',
    'etsy',
    'etsy.com',
    'alibaba',
    'alibaba.com',
    'aliexpress',
    'aliexpress.com',
    'walmart',
    'walmart.com',
    'shopify',
    'shopify.com',
    'shop.app',
    'mercadolibre',
    'mercadolibre.com',
    'wish.com',
    'temu.com',
    'googleshopping',
    'google shopping',
    'shopping.google.com',
    'idealo',
    'idealo.de',
    'rakuten.com',
    'flipkart.com',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

const email = ['email', 'e-mail', 'e_mail', 'e mail']
/** By kind, what stands in utm_source or is a domain. */
const sources: Readonly<Record<string, readonly string[]>> = {
  ...sites,
  Email: [
    ...email,
    ...['mail.google.com', 'outlook.live.com', 'outlook.com', 'mail.yahoo.com', 'mail.aol.com', 'mail.aol.co.uk', 'mail.proton.me'],
  ],
  SMS: ['sms'],
  Push: ['firebase'],
}
const mediums: Readonly<Record<string, readonly string[]>> = {
  Social: ['social', 'social-network', 'social-media', 'sm', 'social network', 'social media'],
  Video: ['video'],
  Display: ['display', 'banner', 'expandable', 'interstitial', 'cpm'],
  Email: email,
  SMS: ['sms'],
  Audio: ['audio'],
  Affiliate: ['affiliate', 'partnership', 'partnerships'],
  Push: ['push', 'mobile', 'notification'],
  Referral: ['referral', 'app', 'link'],
}
const paidMediums = ['cpc', 'cpm', 'cpv', 'cpa', 'ppc', 'retargeting']

export interface Visit {
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
export type Step = Readonly<Record<string, Expr>>

const lower = (expr: Expr) => call('lower', expr)
const orEmpty = (expr: Expr) => call('ifNull', expr, literal(''))
const oneOf = (expr: Expr, words: readonly string[]) => isIn(expr, words.map(literal))
const matches = (expr: Expr, pattern: string) => call('match', expr, literal(pattern))
/** UTM parameters are null rather than empty. */
const isSet = (expr: Expr) => call('isNotNull', expr)
type NameOfKind = (kind: string) => string | null
type IsOneOf = typeof oneOf
/** The same as one constant: DuckDB visits each item of a list again for every level of lambdas around it, and that adds up to seconds of planning. */
const matchesOneOf: IsOneOf = (expr, words) =>
  matches(expr, `^(?:${words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})$`)
const branchesOf = (expr: Expr, lists: Readonly<Record<string, readonly string[]>>, nameOf: NameOfKind, isOneOf: IsOneOf): Expr[] =>
  Object.entries(lists).flatMap(([kind, words]) => {
    const name = nameOf(kind)
    return name === null || words.length === 0 ? [] : [isOneOf(expr, words), literal(name)]
  })

const siteOf = (text: Expr): Expr => call('cutToFirstSignificantSubdomain', call('concat', literal('https://'), text))
/** `news.ycombinator.com` is a source of its own; `www.google.com` and `uk.pinterest.com` are google.com and pinterest.com. Google has a domain per country. */
const channelOfSource = (text: Expr, site: Expr, nameOf: NameOfKind, isOneOf = oneOf): Expr =>
  call(
    'multiIf',
    ...branchesOf(text, sources, nameOf, isOneOf),
    ...branchesOf(site, domains, nameOf, isOneOf),
    matches(site, '^google[.][a-z.]+$'),
    literal(nameOf('Search')),
    literal(null),
  )
const channelOfMedium = (text: Expr, nameOf: NameOfKind, isOneOf = oneOf): Expr =>
  call('multiIf', ...branchesOf(text, mediums, nameOf, isOneOf), literal(null))
/** A site is known by its name too; the other sources are no sites unless they are domains. */
const domains = Object.fromEntries(
  Object.entries(sources).map(([kind, words]) => [
    kind,
    words.map((word) => (kind in sites ? word.replace(/^([a-z]+)$/, '$1.com') : word)).filter((word) => word.includes('.')),
  ]),
)

const twoSided = Object.keys(sites)
const paidName: NameOfKind = (kind) => (twoSided.includes(kind) ? `Paid ${kind}` : kind === 'Display' ? kind : null)
const unpaidName: NameOfKind = (kind) => (twoSided.includes(kind) ? `Organic ${kind}` : kind)
const lowered = (text: Expr): Expr => orEmpty(lower(call('toString', text)))
const sourceOf = (text: Expr, nameOf: NameOfKind): Expr =>
  once(lowered(text), '@source', (source) => once(siteOf(source), '@site', (site) => channelOfSource(source, site, nameOf, matchesOneOf)))
const mediumOf = (text: Expr, nameOf: NameOfKind): Expr =>
  once(lowered(text), '@medium', (medium) => channelOfMedium(medium, nameOf, matchesOneOf))
const domainName: NameOfKind = (kind) => (twoSided.includes(kind) || kind === 'Email' ? kind : null)

/** The kind or the channel of one value, null if it is unknown. */
export const channelLookups: Readonly<Record<string, Expansion>> = {
  lookupDomainType: ofOne((text) => sourceOf(text, domainName)),
  lookupPaidSourceType: ofOne((text) => sourceOf(text, paidName)),
  lookupPaidMediumType: ofOne((text) => mediumOf(text, paidName)),
  lookupOrganicSourceType: ofOne((text) => sourceOf(text, unpaidName)),
  lookupOrganicMediumType: ofOne((text) => mediumOf(text, unpaidName)),
}

const hasPaidMedium = (medium: Expr): Expr => or(oneOf(medium, paidMediums), call('startsWith', medium, literal('paid')))
const isShop = (campaign: Expr): Expr => matches(campaign, '(^|[^a-df-z])shop|shopping')
const isVideo = (campaign: Expr): Expr => matches(campaign, 'video')

/** What the channel depends on: texts in lower case, '' if missing. */
interface Marks {
  readonly campaign: Expr
  readonly medium: Expr
  readonly source: Expr
  readonly isPaid: Expr
  readonly isShop: Expr
  readonly isVideo: Expr
  /** The channels of the source, the medium and the domain, null if unknown. */
  readonly paid: readonly [source: Expr, medium: Expr, domain: Expr]
  readonly unpaid: readonly [source: Expr, medium: Expr, domain: Expr]
}

function channelBy(marks: Marks, { referringDomain, gadSource, fbclid }: Visit): Expr {
  const isDirect = equals(referringDomain, literal('$direct'))
  const named = (
    prefix: 'Paid' | 'Organic',
    [source, medium, domain]: Marks['paid'],
    rest: readonly (readonly [when: Expr, then: string])[],
    otherwise: string,
  ) =>
    call(
      'coalesce',
      source,
      call('if', marks.isShop, literal(`${prefix} Shopping`), literal(null)),
      medium,
      domain,
      call('multiIf', ...rest.flatMap(([when, then]) => [when, literal(then)]), literal(otherwise)),
    )
  const paid: Parameters<typeof named>[2] = [
    [call('ifNull', equals(gadSource, literal('1')), literal(false)), 'Paid Search'],
    [marks.isVideo, 'Paid Video'],
    [isSet(fbclid), 'Paid Social'],
  ]
  const unpaid: Parameters<typeof named>[2] = [
    [marks.isVideo, 'Organic Video'],
    [call('endsWith', marks.medium, literal('push')), 'Push'],
    [isSet(fbclid), 'Organic Social'],
    [isDirect, 'Direct'],
    [isSet(referringDomain), 'Referral'],
  ]
  const hasNoSource = oneOf(marks.source, ['', 'direct', '(direct)', '$direct'])
  return call(
    'multiIf',
    matches(marks.campaign, 'cross-network'),
    literal('Cross Network'),
    marks.isPaid,
    named('Paid', marks.paid, paid, 'Paid Unknown'),
    and(isDirect, equals(marks.medium, literal('')), hasNoSource, not(isSet(fbclid))),
    literal('Direct'),
    named('Organic', marks.unpaid, unpaid, 'Unknown'),
  )
}

/**
 * The name of the channel, from the UTM parameters of the session's first page; `column` reads a column of previous steps. In steps, because an engine
 * evaluates a shared expression again in each branch that uses it.
 */
export function channelType(visit: Visit, column: (name: string) => Expr): { readonly steps: readonly Step[]; readonly channel: Expr } {
  const texts: Step = {
    channel_campaign: lowered(visit.campaign),
    channel_medium: lowered(visit.medium),
    channel_source: lowered(visit.source),
    channel_domain: lowered(visit.referringDomain),
  }
  const [campaign, medium, source] = [column('channel_campaign'), column('channel_medium'), column('channel_source')]
  const siteSteps: Step = { channel_site: siteOf(column('channel_domain')), channel_source_site: siteOf(source) }
  const [domain, sourceSite, domainSite] = [column('channel_domain'), column('channel_source_site'), column('channel_site')]
  const channels: Step = {
    channel_is_paid: or(hasPaidMedium(medium), isSet(visit.gclid), isSet(visit.gadSource)),
    channel_is_shop: isShop(campaign),
    channel_is_video: isVideo(campaign),
    channel_paid_source: channelOfSource(source, sourceSite, paidName),
    channel_paid_medium: channelOfMedium(medium, paidName),
    channel_paid_domain: channelOfSource(domain, domainSite, paidName),
    channel_unpaid_source: channelOfSource(source, sourceSite, unpaidName),
    channel_unpaid_medium: channelOfMedium(medium, unpaidName),
    channel_unpaid_domain: channelOfSource(domain, domainSite, unpaidName),
  }
  const marks: Marks = {
    ...{ campaign, medium, source },
    isPaid: column('channel_is_paid'),
    isShop: column('channel_is_shop'),
    isVideo: column('channel_is_video'),
    paid: [column('channel_paid_source'), column('channel_paid_medium'), column('channel_paid_domain')],
    unpaid: [column('channel_unpaid_source'), column('channel_unpaid_medium'), column('channel_unpaid_domain')],
  }
  return { steps: [texts, siteSteps, channels], channel: channelBy(marks, visit) }
}

/** The same as one expression, which computes more than once what steps compute once. */
export function channelExpression(visit: Visit): Expr {
  const [campaign, medium, source] = [lowered(visit.campaign), lowered(visit.medium), lowered(visit.source)]
  const all = (nameOf: NameOfKind): Marks['paid'] => [
    sourceOf(visit.source, nameOf),
    mediumOf(visit.medium, nameOf),
    sourceOf(visit.referringDomain, nameOf),
  ]
  const marks: Marks = {
    ...{ campaign, medium, source },
    isPaid: or(hasPaidMedium(medium), isSet(visit.gclid), isSet(visit.gadSource)),
    isShop: isShop(campaign),
    isVideo: isVideo(campaign),
    paid: all(paidName),
    unpaid: all(unpaidName),
  }
  return channelBy(marks, visit)
}
