interface Allowing {
  mustBeAllowed(host: string): void
}

/** Refuses an address that this server sends no request to: what is saved and what is sent follow this one rule. Names are looked up when a connection is made. */
export function mustBeReachable(url: URL, network: Allowing): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`Only http and https addresses can be fetched, not ${url.protocol}`)
  network.mustBeAllowed(url.hostname)
}
