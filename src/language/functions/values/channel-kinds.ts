import { always } from '../results.ts'
import type { CellContext, SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// The kinds of the sites, sources and media that visits come from. Each engine looks a text up by its hash: a list of comparisons for each kind would
// cost the planner of DuckDB a join for each of them.

/** Names and domains of sites. A name is its domain in `.com` too. */
const sites: Readonly<Record<string, string>> = {
  AI: `
    chatgpt chatgpt.com chat.openai.com openai openai.com claude claude.ai anthropic anthropic.com perplexity perplexity.ai gemini gemini.google.com
    bard.google.com aistudio.google.com notebooklm.google.com copilot copilot.com copilot.microsoft.com m365.cloud.microsoft copilot.cloud.microsoft
    edgeservices.bing.com deepseek deepseek.com chat.deepseek.com grok grok.com x.ai mistral mistral.ai lechat chat.mistral.ai meta.ai poe.com phind.com
    character.ai pi.ai duck.ai kimi.com kimi.ai kimi.moonshot.cn qwen.ai chat.qwen.ai doubao.com yiyan.baidu.com manus.im genspark.ai felo.ai komo.ai
    iask.ai andisearch.com liner.com com.openai.chatgpt com.google.android.apps.bard com.anthropic.claude ai.perplexity.app.android you.com`,
  Search: `
    google google.com adwords googleads bing bing.com yahoo yahoo.com search.yahoo.com duckduckgo duckduckgo.com baidu baidu.com yandex yandex.ru
    yandex.com ecosia ecosia.org ask ask.com aol aol.com brave search.brave.com qwant qwant.com startpage startpage.com naver naver.com seznam seznam.cz
    kagi kagi.com sogou so.com msn msn.com search lycos lycos.com presearch swisscows swisscows.com mojeek baidu.jp cn.bing.com gibiru.com google.cat
    metager.org mojeek.com onet.pl petalsearch.com search.marginalia.nu sogou.com webcrawler.com yandex.by yandex.kz daum.net search.daum.net rambler.ru
    virgilio.it libero.it lite.duckduckgo.com com.google.android.googlequicksearchbox`,
  Social: `
    facebook facebook.com fb fb.com l.facebook.com lm.facebook.com m.facebook.com meta instagram instagram.com l.instagram.com ig twitter twitter.com
    t.co x x.com linkedin linkedin.com lnkd.in reddit reddit.com out.reddit.com old.reddit.com pinterest pinterest.com tiktok tiktok.com snapchat
    snapchat.com quora quora.com tumblr tumblr.com vk vk.com whatsapp whatsapp.com telegram telegram.org t.me discord discord.com threads.net mastodon
    mastodon.social bsky.app bluesky hackernews news.ycombinator.com ycombinator weibo weibo.com wechat line.me nextdoor.com xing xing.com medium.com
    substack substack.com producthunt producthunt.com stackoverflow.com badoo.com disqus.com flickr.com foursquare.com meetup.com messenger.com m.me
    myspace.com ok.ru pixiv.net skype.com slack.com tripadvisor.com viadeo.com douban.com renren.com zhihu.com zalo.me plurk.com kakao.com lemmy.world
    threads.com truthsocial.com goodreads.com blogger.com blogspot.com wordpress.com com.linkedin.android com.facebook.katana com.twitter.android
    com.reddit.frontpage`,
  Video: `
    youtube youtube.com m.youtube.com youtu.be vimeo vimeo.com twitch twitch.tv dailymotion dailymotion.com netflix netflix.com hulu hulu.com disneyplus
    disneyplus.com wistia wistia.com bilibili.com iqiyi.com rumble.com ted.com crackle.com crunchyroll.com tubitv.com odysee.com youku.com nicovideo.jp
    veoh.com hotstar.com primevideo.com com.google.android.youtube`,
  Shopping: `
    amazon amazon.com amazon.co.uk amazon.de ebay ebay.com etsy etsy.com alibaba alibaba.com aliexpress aliexpress.com walmart walmart.com shopify
    shopify.com shop.app mercadolibre mercadolibre.com wish.com temu.com googleshopping shopping.google.com idealo idealo.de
    rakuten.com flipkart.com m.alibaba.com stripe.com checkout.stripe.com shein.com zalando.com zalando.de otto.de bol.com coupang.com taobao.com
    tmall.com jd.com gumtree.com craigslist.org target.com bestbuy.com costco.com homedepot.com wayfair.com overstock.com ozon.ru wildberries.ru
    allegro.pl mercadolivre.com.br lazada.com shopee.com tokopedia.com trendyol.com cdiscount.com fnac.com kaufland.de pricerunner.com groupon.com
    slickdeals.net vinted.com depop.com poshmark.com com.amazon.mshop.android.shopping`,
}

/** Sites with a domain in many countries: `yahoo.co.jp`, `ebay.de`, `shopping.google.fr`. */
const ofCountries =
  'aliexpress amazon aol ask baidu bing ebay etsy facebook google groupon indeed lycos mercadolibre msn netflix pinterest qwant rakuten shopee swisscows tripadvisor walmart yahoo yandex youtube zalando'

const mailSites =
  'mail.google.com outlook.live.com outlook.com mail.yahoo.com mail.aol.com mail.aol.co.uk mail.proton.me com.google.android.gm com.microsoft.office.outlook'
const email = ['email', 'e-mail', 'e_mail', 'e mail']

const media: Readonly<Record<string, readonly string[]>> = {
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

const wordsOf = (text: string): string[] => text.trim().split(/ |\n */)

/** The kinds in order, each with its words. The first kind of a word counts. */
type Kinds = readonly (readonly [kind: string, words: readonly string[]])[]

function distinct(kinds: Iterable<readonly [kind: string, words: readonly string[]]>): Kinds {
  const seen = new Set<string>()
  return [...kinds].map(([kind, words]) => [kind, words.filter((word) => seen.size < seen.add(word).size)])
}

const countries = new Set(wordsOf(ofCountries))
/** `ebay.` stands for ebay.de and ebay.co.uk, and `mail.yahoo.` for mail.yahoo.co.jp. */
const inEveryCountry = (domain: string): string[] => {
  const [, name] = /^(?:.*\.)?([^.]+)\.com$/.exec(domain) ?? []
  return name !== undefined && countries.has(name) ? [domain, domain.replace(/com$/, '')] : [domain]
}
const domainsOf = (word: string): string[] => (word.includes('.') ? inEveryCountry(word) : [word, ...inEveryCountry(`${word}.com`)])

/** By number, from 1. `language/catalog/channels.ts` names them. */
const numbered = ['Search', 'Social', 'Video', 'Shopping', 'AI', 'Email', 'SMS', 'Push', 'Display', 'Audio', 'Affiliate', 'Referral']

const sourceKinds = distinct([
  ...Object.entries(sites).map(([kind, words]) => [kind, wordsOf(words).flatMap(domainsOf)] as const),
  ['Shopping', ['google shopping']],
  ['Email', [...email, ...wordsOf(mailSites).flatMap(inEveryCountry)]],
  ['SMS', ['sms']],
  ['Push', ['firebase']],
])
const mediumKinds = distinct(Object.entries(media))

const namesOf = (kinds: Kinds, { literal }: Pick<CellContext, 'literal'>): string =>
  kinds.flatMap(([, words]) => words.map((word) => literal(word))).join(', ')
const numberOf = (kind: string): number => numbered.indexOf(kind) + 1

/** In the order of the numbers, in blocks of one size: the number of a value, divided by the size, is that of its kind. The rest of a block no text equals. */
function inBlocks(kinds: Kinds): { readonly size: number; readonly kinds: Kinds } {
  const ofKind = numbered.map((kind) => [kind, kinds.flatMap(([name, words]) => (name === kind ? words : []))] as const)
  const used = ofKind.slice(0, ofKind.findLastIndex(([, words]) => words.length > 0) + 1)
  const size = Math.max(...used.map(([, words]) => words.length))
  const rest = (kind: string, from: number) => Array.from({ length: size - from }, (_, i) => `\u007f${numberOf(kind)}.${i}`)
  return { size, kinds: used.map(([kind, words]) => [kind, [...words, ...rest(kind, words.length)]]) }
}

/** DuckDB keeps the values of an enum in a hash table, and numbers them in order. */
const onDuckDb = (given: Kinds): SqlCell => {
  const { size, kinds } = inBlocks(given)
  return ([text], context) => {
    const value = `TRY_CAST(${text!.sql} AS ENUM(${namesOf(kinds, context)}))`
    return `CAST(coalesce(enum_code(${value}) // ${size} + 1, 0) AS UTINYINT)`
  }
}
/** So does ClickHouse with the values of `transform`. */
const onClickHouse =
  (kinds: Kinds): SqlCell =>
  ([text], context) => {
    const numbers = kinds.flatMap(([kind, words]) => words.map(() => numberOf(kind)))
    return `toUInt8(transform(ifNull(${text!.sql}, ''), [${namesOf(kinds, context)}], [${numbers.join(', ')}], 0))`
  }

const kindOf = (kinds: Kinds, what: string, cases: ScalarSpec['cases']): ScalarSpec => ({
  args: 1,
  returns: always('UInt8'),
  summary: `Internal: the kind of ${what} in lower case, as a number; 0 if it is not known.`,
  duckdb: onDuckDb(kinds),
  clickhouse: onClickHouse(kinds),
  cases,
})

export const channelKindFunctions = scalars({
  _sourceKind: kindOf(sourceKinds, 'a source or a domain', [
    ["_sourceKind('google')", 1],
    ["_sourceKind('mail.yahoo.')", 6],
    ["_sourceKind('Google')", 0],
    ["_sourceKind('')", 0],
    ['_sourceKind(null)', 0],
  ]),
  _mediumKind: kindOf(mediumKinds, 'a medium', [
    ["_mediumKind('cpm')", 9],
    ["_mediumKind('link')", 12],
    ["_mediumKind('mine')", 0],
  ]),
})
