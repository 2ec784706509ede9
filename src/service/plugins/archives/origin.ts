import { isObject } from '../../../lib/is-object.ts'
import { withoutTrailingSlashes } from '../../../lib/text/without-trailing-slashes.ts'
import type { Download } from './download.ts'

// The hosts of repositories and packages that plugins come from, and how each is asked.

/** Base addresses. An operator may name mirrors in place of the public hosts. */
export interface PluginHosts {
  readonly github: string
  readonly githubApi: string
  readonly gitlab: string
  readonly npm: string
}
export const publicHosts: PluginHosts = {
  github: 'https://github.com',
  githubApi: 'https://api.github.com',
  gitlab: 'https://gitlab.com',
  npm: 'https://registry.npmjs.org',
}

export interface Origin {
  /** The URL without its query, which may hold a token. */
  readonly url: string
  /** The query: empty without one. */
  readonly secrets: string
  /** For a plugin without a name of its own. */
  readonly name: string
  /** Null: the URL names a version that does not change. */
  readonly newest: Download | null
  /** The version that the URL names. */
  readonly fixed: string | null
  readTag(answer: unknown): string | null
  archive(tag: string): Download
}

const isSegment = (name: string): boolean => /^[\w.-]{1,100}$/.test(name) && !/^\.+$/.test(name)
const npmName = /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' && value.length <= 200 ? value : null)
const firstOf = (answer: unknown, field: string): string | null => {
  const [first] = Array.isArray(answer) ? answer : []
  return isObject(first) ? text(first[field]) : null
}

/** Null: the URL names no repository and no package of a known host. */
export function readOrigin(given: string, hosts: PluginHosts): Origin | null {
  if (!URL.canParse(given)) return null
  const url = new URL(given)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  const host = url.hostname.toLowerCase().replace(/^www\./, '')
  const path = withoutTrailingSlashes(url.pathname)
  const base = { url: `https://${host === 'npmjs.com' ? 'www.npmjs.com' : host}${path}`, secrets: url.search.replace(/^\?/, '') }
  const token = url.searchParams.get('private_token')
  const parts = path.split('/').slice(1).map(decoded)
  if (host === 'github.com') return githubOrigin(parts, token, hosts, base)
  if (host === 'gitlab.com') return gitlabOrigin(parts, token, hosts, base)
  return host === 'npmjs.com' ? npmOrigin(parts, token, hosts, base) : null
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

type Base = Pick<Origin, 'url' | 'secrets'>

function githubOrigin(parts: readonly string[], token: string | null, hosts: PluginHosts, base: Base): Origin | null {
  const [owner = '', repository = '', kind, ...rest] = parts
  const name = repository.replace(/\.git$/, '')
  if (!isSegment(owner) || !isSegment(name)) return null
  const secretHeaders: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const branch = kind === 'tree' ? rest.join('/') : null
  const fixed = kind === 'commit' ? rest.join('/') : kind === 'releases' && rest[0] === 'tag' ? rest.slice(1).join('/') : null
  if (kind !== undefined && !branch && !fixed) return null
  const commits = `${hosts.githubApi}/repos/${owner}/${name}/commits?per_page=1${branch ? `&sha=${encodeURIComponent(branch)}` : ''}`
  return {
    ...base,
    name,
    fixed,
    newest: fixed ? null : { url: commits, secretHeaders },
    readTag: (answer) => firstOf(answer, 'sha'),
    archive: (tag) => ({ url: `${hosts.github}/${owner}/${name}/archive/${encodeURIComponent(tag)}.zip`, secretHeaders }),
  }
}

function gitlabOrigin(parts: readonly string[], token: string | null, hosts: PluginHosts, base: Base): Origin | null {
  const dash = parts.indexOf('-')
  const names = dash < 0 ? parts : parts.slice(0, dash)
  const [kind, ...rest] = dash < 0 ? [] : parts.slice(dash + 1)
  if (names.length < 2 || !names.every(isSegment)) return null
  const version = rest.join('/')
  if (dash >= 0 && ((kind !== 'tree' && kind !== 'commit' && kind !== 'tags') || version === '')) return null
  const secretHeaders: Record<string, string> = token ? { 'private-token': token } : {}
  const project = `${hosts.gitlab}/api/v4/projects/${encodeURIComponent(names.join('/').replace(/\.git$/, ''))}/repository`
  const fixed = kind === 'commit' || kind === 'tags' ? version : null
  const commits = `${project}/commits?per_page=1${kind === 'tree' ? `&ref_name=${encodeURIComponent(version)}` : ''}`
  return {
    ...base,
    name: names.at(-1)!,
    fixed,
    newest: fixed ? null : { url: commits, secretHeaders },
    readTag: (answer) => firstOf(answer, 'id'),
    archive: (tag) => ({ url: `${project}/archive.zip?sha=${encodeURIComponent(tag)}`, secretHeaders }),
  }
}

function npmOrigin(parts: readonly string[], token: string | null, hosts: PluginHosts, base: Base): Origin | null {
  const [root, ...rest] = parts
  if (root !== 'package') return null
  const taken = rest[0]?.startsWith('@') ? 2 : 1
  const name = rest.slice(0, taken).join('/')
  const [kind, version] = rest.slice(taken)
  if (!npmName.test(name) || (kind !== undefined && (kind !== 'v' || !version))) return null
  const secretHeaders: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  return {
    ...base,
    name,
    fixed: version ?? null,
    newest: version ? null : { url: `${hosts.npm}/${name.replace('/', '%2F')}/latest`, secretHeaders },
    readTag: (answer) => (isObject(answer) ? text(answer.version) : null),
    archive: (tag) => ({ url: `${hosts.npm}/${name}/-/${name.split('/').at(-1)}-${encodeURIComponent(tag)}.tgz`, secretHeaders }),
  }
}
