import { and, call, equals, isIn, literal, not, or } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import { type Expansion, ofOne } from './expansion.ts'

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
const branchesOf = (expr: Expr, lists: Readonly<Record<string, readonly string[]>>): Expr[] =>
  Object.entries(lists).flatMap(([name, words]) => [oneOf(expr, words), literal(name)])

const siteOf = (text: Expr): Expr => call('cutToFirstSignificantSubdomain', call('concat', literal('https://'), text))
/** `news.ycombinator.com` is a source of its own; `www.google.com` and `uk.pinterest.com` are google.com and pinterest.com. Google has a domain per country. */
const kindOfSource = (text: Expr, site: Expr): Expr =>
  call(
    'multiIf',
    ...branchesOf(text, sources),
    ...branchesOf(site, domains),
    matches(site, '^google[.][a-z.]+$'),
    literal('Search'),
    literal(''),
  )
const kindOfMedium = (text: Expr): Expr => call('multiIf', ...branchesOf(text, mediums), literal(''))
const domains = Object.fromEntries(
  Object.entries(sources).map(([kind, words]) => [kind, words.map((word) => word.replace(/^([a-z]+)$/, '$1.com'))]),
)

const twoSided = Object.keys(sites)
const paidChannel = (kind: Expr): Expr =>
  call(
    'multiIf',
    oneOf(kind, twoSided),
    call('concat', literal('Paid '), kind),
    equals(kind, literal('Display')),
    literal('Display'),
    literal(null),
  )
const unpaidChannel = (kind: Expr): Expr =>
  call(
    'multiIf',
    oneOf(kind, twoSided),
    call('concat', literal('Organic '), kind),
    call('notEquals', kind, literal('')),
    kind,
    literal(null),
  )

const sourceOf = (text: Expr): Expr => kindOfSource(lowered(text), siteOf(lowered(text)))
const mediumOf = (text: Expr): Expr => kindOfMedium(lowered(text))
const lowered = (text: Expr): Expr => orEmpty(lower(call('toString', text)))

/** The kind or the channel of one value, null if it is unknown. */
export const channelLookups: Readonly<Record<string, Expansion>> = {
  lookupDomainType: ofOne((text) => kindOnly(sourceOf(text), [...twoSided, 'Email'])),
  lookupPaidSourceType: ofOne((text) => paidChannel(sourceOf(text))),
  lookupPaidMediumType: ofOne((text) => paidChannel(mediumOf(text))),
  lookupOrganicSourceType: ofOne((text) => unpaidChannel(sourceOf(text))),
  lookupOrganicMediumType: ofOne((text) => unpaidChannel(mediumOf(text))),
}
const kindOnly = (kind: Expr, kinds: readonly string[]): Expr => call('if', oneOf(kind, kinds), kind, literal(null))

/**
 * The name of the channel, from the UTM parameters of the session's first page; `column` reads a column of previous steps. In steps, because an engine
 * evaluates a shared expression again in each branch that uses it.
 */
export function channelType(
  { campaign, medium, source, referringDomain, gclid, gadSource, fbclid }: Visit,
  column: (name: string) => Expr,
): { readonly steps: readonly Step[]; readonly channel: Expr } {
  const texts: Step = {
    channel_campaign: orEmpty(lower(campaign)),
    channel_medium: orEmpty(lower(medium)),
    channel_source: orEmpty(lower(source)),
    channel_domain: orEmpty(lower(referringDomain)),
  }
  const [campaignText, mediumText, sourceText] = [column('channel_campaign'), column('channel_medium'), column('channel_source')]
  const siteSteps: Step = { channel_site: siteOf(column('channel_domain')), channel_source_site: siteOf(sourceText) }
  const kinds: Step = {
    channel_is_paid: or(oneOf(mediumText, paidMediums), call('startsWith', mediumText, literal('paid')), isSet(gclid), isSet(gadSource)),
    channel_is_shop: matches(campaignText, '(^|[^a-df-z])shop|shopping'),
    channel_is_video: matches(campaignText, 'video'),
    channel_of_source: kindOfSource(sourceText, column('channel_source_site')),
    channel_of_medium: kindOfMedium(mediumText),
    channel_of_domain: kindOfSource(column('channel_domain'), column('channel_site')),
  }
  const isPaid = column('channel_is_paid')
  const isDirect = equals(referringDomain, literal('$direct'))
  const hasSource = not(oneOf(sourceText, ['', 'direct', '(direct)', '$direct']))
  const isUnset = (text: Expr) => equals(text, literal(''))
  const named = (
    prefix: 'Paid' | 'Organic',
    of: (kind: Expr) => Expr,
    rest: readonly (readonly [when: Expr, then: Expr])[],
    otherwise: string,
  ) =>
    call(
      'coalesce',
      of(column('channel_of_source')),
      call('if', column('channel_is_shop'), literal(`${prefix} Shopping`), literal(null)),
      of(column('channel_of_medium')),
      of(column('channel_of_domain')),
      call('multiIf', ...rest.flat(), literal(otherwise)),
    )
  const paid = named(
    'Paid',
    paidChannel,
    [
      [call('ifNull', equals(gadSource, literal('1')), literal(false)), literal('Paid Search')],
      [column('channel_is_video'), literal('Paid Video')],
      [isSet(fbclid), literal('Paid Social')],
    ],
    'Paid Unknown',
  )
  const unpaid = named(
    'Organic',
    unpaidChannel,
    [
      [column('channel_is_video'), literal('Organic Video')],
      [call('endsWith', mediumText, literal('push')), literal('Push')],
      [isSet(fbclid), literal('Organic Social')],
      [isDirect, literal('Direct')],
      [isSet(referringDomain), literal('Referral')],
    ],
    'Unknown',
  )
  const channel = call(
    'multiIf',
    matches(campaignText, 'cross-network'),
    literal('Cross Network'),
    isPaid,
    paid,
    and(isDirect, isUnset(mediumText), not(hasSource), not(isSet(fbclid))),
    literal('Direct'),
    unpaid,
  )
  return { steps: [texts, siteSteps, kinds], channel }
}
