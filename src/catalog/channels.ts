import { and, call, equals, isIn, literal, not, or } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'

// Where a visit came from, told by its first page: paid or not, and through what. A site or app belongs to one kind of place; some kinds have a
// paid and an unpaid channel.

type Place = 'Search' | 'Social' | 'Video' | 'Shopping'

const places: Readonly<Record<Place, readonly string[]>> = {
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
const placeNames = Object.keys(places) as Place[]

const mediums: Readonly<Record<string, readonly string[]>> = {
  Social: ['social', 'social-network', 'social-media', 'sm', 'social network', 'social media', 'paidsocial', 'paid-social', 'paid social'],
  Video: ['video'],
  Shopping: ['shopping'],
  Search: ['organic', 'search', 'sem', 'paidsearch', 'paid-search', 'paid search'],
}
/** Media and sources that are channels of their own, paid or not. */
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

const lower = (expr: Expr) => call('lower', expr)
const oneOf = (expr: Expr, words: readonly string[]) => isIn(lower(expr), words.map(literal))
const matches = (expr: Expr, pattern: string) => call('match', lower(call('ifNull', expr, literal(''))), literal(pattern))
/** Marks are null rather than empty. */
const isSet = (expr: Expr) => call('isNotNull', expr)

export interface Visit {
  readonly campaign: Expr
  readonly medium: Expr
  readonly source: Expr
  readonly referringDomain: Expr
  /** A click on an advertisement of Google left its mark. */
  readonly gclid: Expr
  readonly gadSource: Expr
  readonly fbclid: Expr
}

/** The name of the channel, from the marks of the session's first page. */
export function channelType(visit: Visit): Expr {
  const { campaign, medium, source, referringDomain, gclid, gadSource, fbclid } = visit
  const shop = matches(campaign, '(^|[^a-df-z])shop|shopping')
  const video = matches(campaign, 'video')
  const isDirect = equals(referringDomain, literal('$direct'))
  const hasSource = and(isSet(source), not(oneOf(source, ['direct', '(direct)'])))
  const isPaid = or(matches(medium, 'cp.|ppc|retargeting|^paid'), isSet(gclid), isSet(gadSource))

  const branches: [when: Expr, then: string][] = [[matches(campaign, 'cross-network'), 'Cross Network']]
  const add = (prefix: 'Paid' | 'Organic', guard: (when: Expr) => Expr) => {
    const branch = (when: Expr, channel: string) => branches.push([guard(when), channel])
    for (const [channel, words] of Object.entries(direct))
      if (channel !== 'Referral' && prefix === 'Organic') branch(or(oneOf(source, words), oneOf(medium, words)), channel)
    for (const place of placeNames) branch(oneOf(source, places[place]), `${prefix} ${place}`)
    branch(shop, `${prefix} Shopping`)
    for (const [place, words] of Object.entries(mediums)) branch(oneOf(medium, words), `${prefix} ${place}`)
    for (const place of placeNames)
      branch(
        oneOf(
          referringDomain,
          places[place].map((word) => word.replace(/^([a-z]+)$/, '$1.com')),
        ),
        `${prefix} ${place}`,
      )
    branch(video, `${prefix} Video`)
    branch(isSet(fbclid), `${prefix} Social`)
  }
  add('Paid', (when) => and(isPaid, when))
  branches.push([and(isPaid, or(isSet(gclid), equals(gadSource, literal('1')))), 'Paid Search'])
  branches.push([isPaid, 'Paid Unknown'])
  branches.push([and(isDirect, not(isSet(medium)), not(hasSource), not(isSet(campaign))), 'Direct'])
  add('Organic', (when) => when)
  branches.push([oneOf(medium, direct.Referral!), 'Referral'])
  branches.push([isDirect, 'Unknown'])
  branches.push([isSet(referringDomain), 'Referral'])
  return call('multiIf', ...branches.flatMap(([when, then]) => [when, literal(then)]), literal('Unknown'))
}
