import { Resolver } from 'node:dns/promises'

/** Codes for a missing record; any other error means that the lookup failed. */
const nothingThere = new Set(['ENODATA', 'ENOTFOUND', 'NXDOMAIN', 'EBADNAME'])

const resolverFor = (servers: readonly string[]) => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  return resolver
}

/** Queries TXT records from name servers: the system's, or those given as `address` or `address:port`. */
export const createTxtLookup = (servers: readonly string[] = []): ((name: string) => Promise<readonly string[]>) => {
  const resolver = resolverFor(servers)
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map(([first = '']) => first)
    } catch (error) {
      if (nothingThere.has((error as NodeJS.ErrnoException).code ?? '')) return []
      throw error
    }
  }
}

/** The target of a name's CNAME record; null without one. */
export const createCnameLookup = (servers: readonly string[] = []): ((name: string) => Promise<string | null>) => {
  const resolver = resolverFor(servers)
  return async (name) => {
    try {
      return (await resolver.resolveCname(name))[0] ?? null
    } catch (error) {
      if (nothingThere.has((error as NodeJS.ErrnoException).code ?? '')) return null
      throw error
    }
  }
}
