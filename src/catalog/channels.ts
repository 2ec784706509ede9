import { and, call, equals, isIn, literal, not, or } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'

// The marketing channel of a visit, from its first page: paid or not, and through which medium. Each site or app belongs to one category; some
// categories have a paid and an unpaid channel.

type SiteKind = 'Search' | 'Social' | 'Video' | 'Shopping'

const sites: Readonly<Record<SiteKind, readonly string[]>> = {
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
}

const mediums: Readonly<Record<string, readonly string[]>> = {
  Social: ['social', 'social-network', 'social-media', 'sm', 'social network', 'social media', 'paidsocial', 'paid-social', 'paid social'],
  Video: ['video'],
  Shopping: ['shopping'],
  Search: ['organic', 'search', 'sem', 'paidsearch', 'paid-search', 'paid search'],
}
/** Media and sources with a channel of their own, paid or not. */
const direct: Readonly<Record<string, readonly string[]>> = {
  Email: [
    'email',
    'e-mail',
    'e_mail',
    'e mail',
    'newsletter',
    'gmail',
    'mail.google.com',
    'outlook',
    'outlook.com',
    'outlook.live.com',
    'mailchimp',
  ],
  SMS: ['sms', 'text'],
  Audio: ['audio', 'podcast', 'spotify', 'spotify.com'],
  Affiliate: ['affiliate', 'affiliates', 'partner'],
  Push: ['push', 'mobile', 'notification', 'web-push', 'app-push'],
  Referral: ['referral', 'app', 'link'],
}

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
/** The name of the first list that contains the text, or ''. */
const listOf = (expr: Expr, lists: Readonly<Record<string, readonly string[]>>) =>
  call('multiIf', ...Object.entries(lists).flatMap(([name, words]) => [oneOf(expr, words), literal(name)]), literal(''))
const matches = (expr: Expr, pattern: string) => call('match', expr, literal(pattern))
/** UTM parameters are null rather than empty. */
const isSet = (expr: Expr) => call('isNotNull', expr)

const domains = Object.fromEntries(
  Object.entries(sites).map(([kind, words]) => [kind, words.map((word) => word.replace(/^([a-z]+)$/, '$1.com'))]),
)

/** `news.ycombinator.com` is a site of its own; `www.google.com` and `uk.pinterest.com` are google.com and pinterest.com. Google has a domain per country. */
const placeOfDomain = (domain: Expr, site: Expr): Expr => {
  const own = Object.entries(domains).flatMap(([kind, words]) => [oneOf(domain, words), literal(kind)])
  const wider = Object.entries(domains).flatMap(([kind, words]) => [oneOf(site, words), literal(kind)])
  return call('multiIf', ...own, ...wider, matches(site, '^google[.][a-z.]+$'), literal('Search'), literal(''))
}

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
  const site: Step = {
    channel_site: call('cutToFirstSignificantSubdomain', call('concat', literal('https://'), column('channel_domain'))),
  }
  const [campaignText, mediumText, sourceText] = [column('channel_campaign'), column('channel_medium'), column('channel_source')]
  const kinds: Step = {
    channel_is_paid: or(matches(mediumText, 'cp.|ppc|retargeting|^paid'), isSet(gclid), isSet(gadSource)),
    channel_is_shop: matches(campaignText, '(^|[^a-df-z])shop|shopping'),
    channel_is_video: matches(campaignText, 'video'),
    channel_of_source: listOf(sourceText, direct),
    channel_of_medium: listOf(mediumText, direct),
    channel_place_of_source: listOf(sourceText, sites),
    channel_place_of_medium: listOf(mediumText, mediums),
    channel_place_of_domain: placeOfDomain(column('channel_domain'), column('channel_site')),
  }
  const isPaid = column('channel_is_paid')
  const isDirect = equals(referringDomain, literal('$direct'))
  const hasSource = and(isSet(source), not(oneOf(sourceText, ['direct', '(direct)'])))

  const branches: [when: Expr, then: Expr][] = [[matches(campaignText, 'cross-network'), literal('Cross Network')]]
  const add = (prefix: 'Paid' | 'Organic', guard: (when: Expr) => Expr) => {
    const branch = (when: Expr, channel: Expr) => branches.push([guard(when), channel])
    const named = (kind: string) => literal(`${prefix} ${kind}`)
    const placed = (name: string) =>
      branch(call('notEquals', column(name), literal('')), call('concat', literal(`${prefix} `), column(name)))
    placed('channel_place_of_source')
    branch(column('channel_is_shop'), named('Shopping'))
    placed('channel_place_of_medium')
    placed('channel_place_of_domain')
    branch(column('channel_is_video'), named('Video'))
    branch(isSet(fbclid), named('Social'))
  }
  add('Paid', (when) => and(isPaid, when))
  branches.push([and(isPaid, or(isSet(gclid), equals(gadSource, literal('1')))), literal('Paid Search')])
  branches.push([isPaid, literal('Paid Unknown')])
  branches.push([and(isDirect, not(isSet(medium)), not(hasSource), not(isSet(campaign))), literal('Direct')])
  for (const channel of Object.keys(direct).filter((name) => name !== 'Referral'))
    branches.push([
      or(equals(column('channel_of_source'), literal(channel)), equals(column('channel_of_medium'), literal(channel))),
      literal(channel),
    ])
  add('Organic', (when) => when)
  branches.push([equals(column('channel_of_medium'), literal('Referral')), literal('Referral')])
  branches.push([isDirect, literal('Unknown')])
  branches.push([isSet(referringDomain), literal('Referral')])
  return { steps: [texts, site, kinds], channel: call('multiIf', ...branches.flat(), literal('Unknown')) }
}
