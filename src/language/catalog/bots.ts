import { call, equals, literal } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import { type Expansion, ofOne, once } from './expansion.ts'

// Who sends a request, by its user agent.

type Agent = readonly [mark: string, name: string, operator: string]

/** By category; `type` is what the categories are counted together as. The first mark in a user agent decides, whatever its case. */
const agents: Readonly<Record<string, { readonly type: 'AI Agent' | 'Bot' | 'Automation'; readonly list: readonly Agent[] }>> = {
  ai_search: {
    type: 'AI Agent',
    list: [
      ['OAI-SearchBot', 'OpenAI Search', 'OpenAI'],
      ['Claude-SearchBot', 'Claude Search', 'Anthropic'],
      ['PerplexityBot', 'Perplexity', 'Perplexity'],
      ['Applebot-Extended', 'Apple AI', 'Apple'],
    ],
  },
  ai_assistant: {
    type: 'AI Agent',
    list: [
      ['ChatGPT-User', 'ChatGPT', 'OpenAI'],
      ['Claude-User', 'Claude User', 'Anthropic'],
      ['Perplexity-User', 'Perplexity User', 'Perplexity'],
    ],
  },
  ai_crawler: {
    type: 'AI Agent',
    list: [
      ['GPTBot', 'GPTBot', 'OpenAI'],
      ['ClaudeBot', 'Claude', 'Anthropic'],
      ['Claude-Web', 'Claude Web', 'Anthropic'],
      ['anthropic-ai', 'Anthropic', 'Anthropic'],
      ['Google-Extended', 'Google AI', 'Google'],
      ['GoogleOther', 'GoogleOther', 'Google'],
      ['CCBot', 'Common Crawl', 'Common Crawl'],
      ['cohere-ai', 'Cohere', 'Cohere'],
      ['meta-externalagent', 'Meta AI', 'Meta'],
      ['meta-externalfetcher', 'Meta Fetcher', 'Meta'],
      ['Bytespider', 'ByteDance', 'ByteDance'],
      ['Diffbot', 'Diffbot', 'Diffbot'],
      ['PetalBot', 'Petal', 'Huawei'],
    ],
  },
  search_crawler: {
    type: 'Bot',
    list: [
      ['Applebot', 'Applebot', 'Apple'],
      ['Amazonbot', 'Amazon', 'Amazon'],
      ['Googlebot', 'Googlebot', 'Google'],
      ['Bingbot', 'Bingbot', 'Microsoft'],
      ['YandexBot', 'Yandex', 'Yandex'],
      ['Baiduspider', 'Baidu', 'Baidu'],
      ['DuckDuckBot', 'DuckDuckGo', 'DuckDuckGo'],
      ['Slurp', 'Yahoo', 'Yahoo'],
    ],
  },
  seo_crawler: {
    type: 'Bot',
    list: [
      ['AhrefsBot', 'Ahrefs', 'Ahrefs'],
      ['SemrushBot', 'Semrush', 'Semrush'],
      ['MJ12bot', 'Majestic', 'Majestic'],
      ['DotBot', 'Moz', 'Moz'],
    ],
  },
  social_crawler: {
    type: 'Bot',
    list: [
      ['FacebookBot', 'Facebook Bot', 'Meta'],
      ['facebookexternalhit', 'Facebook', 'Meta'],
      ['Twitterbot', 'Twitter', 'X'],
      ['LinkedInBot', 'LinkedIn', 'LinkedIn'],
      ['Pinterest', 'Pinterest', 'Pinterest'],
      ['Slackbot', 'Slack', 'Slack'],
      ['TelegramBot', 'Telegram', 'Telegram'],
      ['WhatsApp', 'WhatsApp', 'Meta'],
      ['Discordbot', 'Discord', 'Discord'],
    ],
  },
  monitoring: {
    type: 'Bot',
    list: [
      ['Pingdom', 'Pingdom', 'Pingdom'],
      ['UptimeRobot', 'UptimeRobot', 'UptimeRobot'],
      ['Site24x7', 'Site24x7', 'Site24x7'],
      ['StatusCake', 'StatusCake', 'StatusCake'],
      ['Datadog', 'Datadog', 'Datadog'],
    ],
  },
  headless_browser: {
    type: 'Automation',
    list: [
      ['HeadlessChrome', 'Headless Chrome', 'Google'],
      ['PhantomJS', 'PhantomJS', 'PhantomJS'],
      ['Puppeteer', 'Puppeteer', 'Google'],
      ['Playwright', 'Playwright', 'Microsoft'],
      ['Selenium', 'Selenium', 'Selenium'],
    ],
  },
  http_client: {
    type: 'Automation',
    list: [
      ['curl/', 'curl', 'curl'],
      ['Wget', 'Wget', 'GNU'],
      ['python-requests', 'Python Requests', 'Python'],
      ['axios', 'Axios', 'Axios'],
      ['node-fetch', 'Node Fetch', 'Node.js'],
      ['Go-http-client', 'Go HTTP', 'Go'],
      ['okhttp', 'OkHttp', 'Square'],
      ['Apache-HttpClient', 'Apache HTTP', 'Apache'],
      ['libwww-perl', 'LWP', 'Perl'],
      ['Scrapy', 'Scrapy', 'Scrapy'],
    ],
  },
}

const known = Object.entries(agents).flatMap(([category, { type, list }]) =>
  list.map(([mark, name, operator]) => ({ mark, name, operator, category, type })),
)
type Known = (typeof known)[number]

/** What is known of the agent; `none` without a user agent, `other` for an unknown one. */
const about = (agent: Expr, what: keyof Known, none: string, other: string): Expr =>
  once(call('lower', call('ifNull', call('toString', agent), literal(''))), '@agent', (text) => {
    const branches = known.flatMap((one) => [call('like', text, literal(`%${one.mark.toLowerCase()}%`)), literal(one[what])])
    return call('multiIf', equals(text, literal('')), literal(none), ...branches, literal(other))
  })

const type = (agent: Expr): Expr => about(agent, 'type', 'Automation', 'Regular')

/** Without a user agent a program is at work. */
const functions: Readonly<Record<string, Expansion>> = {
  getTrafficType: ofOne(type),
  getTrafficCategory: ofOne((agent) => about(agent, 'category', 'no_user_agent', 'regular')),
  getBotType: ofOne((agent) => about(agent, 'category', 'no_user_agent', '')),
  getBotName: ofOne((agent) => about(agent, 'name', '', '')),
  getBotOperator: ofOne((agent) => about(agent, 'operator', '', '')),
  isLikelyBot: ofOne((agent) => call('notEquals', type(agent), literal('Regular'))),
}

/** With the names that they had at first. */
export const botFunctions: Readonly<Record<string, Expansion>> = {
  ...functions,
  ...Object.fromEntries(Object.entries(functions).map(([name, one]) => [`__preview_${name === 'isLikelyBot' ? 'isBot' : name}`, one])),
}
