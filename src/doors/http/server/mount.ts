import { withoutTrailingSlashes } from '../../../lib/text/without-trailing-slashes.ts'

// Where the handler is mounted in the application that it is part of.

/** `/analytics` of `/analytics/`; empty at the root. */
export const mountPath = (at: string): string => {
  const path = withoutTrailingSlashes(at)
  if (path === '/') return ''
  return path === '' || path.startsWith('/') ? path : `/${path}`
}

/** The rest of a path below the mounted one, with its query. Null: the path is not below it. */
export const belowMount = (prefix: string, path: string): string | null => {
  if (prefix === '' || !path.startsWith(prefix)) return null
  const rest = path.slice(prefix.length)
  if (rest === '') return '/'
  if (rest.startsWith('/')) return rest
  return rest.startsWith('?') ? `/${rest}` : null
}

/**
 * `/analytics` leads to `/analytics/`: the page there names its files relative to itself. The target is relative too, so that it is right behind a
 * proxy that adds or removes a part of the path. Null: nothing to redirect.
 */
export const redirectToMount = (prefix: string, method: string, path: string): string | null => {
  if (prefix === '' || (method !== 'GET' && method !== 'HEAD')) return null
  if (path !== prefix && !path.startsWith(`${prefix}?`)) return null
  return `./${prefix.slice(prefix.lastIndexOf('/') + 1)}/${path.slice(prefix.length)}`
}
