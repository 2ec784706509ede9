// Charts in the pages of other applications, as custom elements:
//
//   <script defer src="https://analytics.example.com/embed/waymark.js"></script>
//   <waymark-chart token="…" insight="12"></waymark-chart>
//   <waymark-dashboard token="…" dashboard="3"></waymark-dashboard>
//
// The server draws; this asks for the picture, puts it into a shadow tree, and asks again when the width, the dates or the events have changed. `tips`, which the
// server puts before it, shows the numbers under the pointer. Nothing here writes a style attribute or a script, so it works with a content security policy that
// allows the server in script-src and connect-src.
const path = '/embed/waymark.js'
const script = document.currentScript || document.querySelector(`script[src*="${path}"]`)
const home = script ? script.src.slice(0, script.src.indexOf(path)) : ''

const policy = window.trustedTypes?.createPolicy('waymark', { createHTML: (text) => text })
/** What the server has drawn, as nodes. */
const nodesOf = (markup) => {
  const page = new DOMParser().parseFromString(policy ? policy.createHTML(markup) : markup, 'text/html')
  return [...page.body.childNodes].map((node) => document.importNode(node, true))
}
const made = (name, className, ...children) => {
  const node = document.createElement(name)
  if (className) node.className = className
  node.append(...children)
  return node
}

/** The style of each server is fetched once. */
const sheets = new Map()
const sheetOf = (server) => {
  if (!sheets.has(server)) {
    const sheet = new CSSStyleSheet()
    sheets.set(server, sheet)
    fetch(`${server}/embed/waymark.css`)
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(String(answer.status)))))
      .then((text) => sheet.replaceSync(text))
      .catch(() => sheets.delete(server))
  }
  return sheets.get(server)
}

/** What a token says about itself; the server checks it. */
const claimsOf = (token) => {
  try {
    const text = atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))
    return JSON.parse(decodeURIComponent([...text].map((one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')))
  } catch {
    return {}
  }
}

/** A property that the page has set before this file was there. */
const given = (element, name) => {
  const value = Object.hasOwn(element, name) ? element[name] : null
  delete element[name]
  return value
}

const [least, most, step] = [120, 2400, 10]
const [retryMs, quickest] = [5000, 5]

class Element extends HTMLElement {
  static observedAttributes = [
    'server',
    'token',
    'insight',
    'dashboard',
    'date-from',
    'date-to',
    'interval',
    'height',
    'refresh',
    'heading',
  ]

  #token = given(this, 'token')
  #query = given(this, 'query')
  #provider = given(this, 'tokenProvider')
  #width = 0
  #etag = null
  #asked = null
  #timer = 0
  #own = new CSSStyleSheet()
  #watched = new ResizeObserver(([entry]) => this.#resized(entry.contentRect.width))
  #seen = () => document.visibilityState === 'visible' && this.#again(0)

  constructor() {
    super()
    this.attachShadow({ mode: 'open' })
  }
  connectedCallback() {
    this.shadowRoot.adoptedStyleSheets = [sheetOf(this.server), this.#own]
    if (!this.shadowRoot.firstChild) this.#say('Loading…', true)
    this.#watched.observe(this)
    document.addEventListener('visibilitychange', this.#seen)
  }
  disconnectedCallback() {
    this.#watched.disconnect()
    document.removeEventListener('visibilitychange', this.#seen)
    clearTimeout(this.#timer)
    this.#asked?.abort()
    this.#width = 0
  }
  attributeChangedCallback(name, before, after) {
    if (before === after) return
    if (name === 'token') this.#token = after
    if (this.#width > 0) this.#changed()
  }

  get server() {
    return (this.getAttribute('server') || home).replace(/\/+$/, '')
  }
  get token() {
    return this.#token
  }
  set token(value) {
    this.#token = value
    if (this.#width > 0) this.#changed()
  }
  /** A query of the page itself, of a kind that the token names. */
  get query() {
    return this.#query
  }
  set query(value) {
    this.#query = value
    if (this.#width > 0) this.#changed()
  }
  /** An async function of the application that answers a new token, when there is none yet or the old one has ended. */
  get tokenProvider() {
    return this.#provider
  }
  set tokenProvider(provider) {
    this.#provider = provider
    if (this.#width > 0) this.#changed()
  }
  /** Asks again. */
  reload() {
    this.#again(0)
  }

  #resized(width) {
    const steps = Math.max(least, Math.min(most, Math.floor(width / step) * step))
    if (steps === this.#width || width === 0) return
    const isFirst = this.#width === 0
    this.#width = steps
    this.#etag = null
    this.#again(isFirst ? 0 : 150)
  }
  #changed() {
    this.#etag = null
    this.#again(0)
  }
  #again(ms) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#load(), ms)
  }
  #later() {
    const seconds = Number(this.getAttribute('refresh'))
    if (seconds > 0) this.#again(Math.max(quickest, seconds) * 1000)
  }

  async #load() {
    if (!this.isConnected || this.#width === 0) return
    // A page that nobody looks at asks nothing; it is asked when it is seen again.
    if (document.visibilityState === 'hidden' && this.#etag !== null) return
    this.#asked?.abort()
    const asked = new AbortController()
    this.#asked = asked
    this.setAttribute('aria-busy', 'true')
    try {
      this.#token ??= (await this.#provider?.()) ?? null
      if (!this.#token) return this.#say('No token was given.')
      this.#dress(claimsOf(this.#token).theme)
      let answer = await this.#ask(asked.signal)
      if (answer.status === 401 && this.#provider) {
        this.#token = await this.#provider()
        answer = await this.#ask(asked.signal)
      }
      if (answer.status === 304) return this.#later()
      const body = await answer.json()
      if (asked.signal.aborted) return
      if (!answer.ok) return this.#failed(answer, body)
      this.#etag = answer.headers.get('etag') ?? ''
      this.#show(body)
      this.dispatchEvent(new CustomEvent('waymark-load', { detail: body }))
      this.#later()
    } catch (error) {
      if (asked.signal.aborted) return
      this.#failed(null, { detail: error instanceof Error ? error.message : String(error) })
    } finally {
      if (this.#asked === asked) this.removeAttribute('aria-busy')
    }
  }

  #ask(signal) {
    const { server } = this
    const headers = { authorization: `Bearer ${this.#token}` }
    const height = this.getAttribute('height')
    const size = { width: this.#width, ...(height && { height: Number(height) }) }
    if (this.#query) {
      const body = JSON.stringify({ query: this.#query, ...size })
      return fetch(`${server}/api/viewer/query/`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        signal,
      })
    }
    const given = new URLSearchParams(Object.entries(size).map(([name, value]) => [name, String(value)]))
    for (const name of ['date-from', 'date-to', 'interval']) {
      const value = this.getAttribute(name)
      if (value) given.set(name.replace('-', '_'), value)
    }
    if (this.#etag) headers['if-none-match'] = this.#etag
    return fetch(`${server}/api/viewer/${this.place()}/?${given}`, { headers, signal, cache: 'no-store' })
  }

  #failed(answer, { detail, code }) {
    const status = answer?.status ?? 0
    const isPassing = status === 0 || status === 429 || status >= 500
    // What is shown stays while the server cannot be reached.
    if (!(isPassing && this.#etag))
      this.#say(status === 401 ? 'This chart is not open to you any more.' : (detail ?? 'This chart could not be loaded.'))
    this.dispatchEvent(new CustomEvent('waymark-error', { detail: { status, code: code ?? null, message: detail ?? null } }))
    if (isPassing) this.#again(Number(answer?.headers.get('retry-after')) * 1000 || retryMs)
  }

  /** The variables of the token's theme, beneath those that the page sets. */
  #dress(theme) {
    if (this.#own.cssRules.length > 0) this.#own.deleteRule(0)
    this.#own.insertRule(':host{}')
    const { style } = this.#own.cssRules[0]
    if (theme && typeof theme === 'object')
      for (const [name, value] of Object.entries(theme)) if (/^--waymark-[a-z0-9-]+$/.test(name)) style.setProperty(name, String(value))
  }
  #say(text, isWaiting = false) {
    const line = made('div', 'waiting', text)
    line.setAttribute('role', isWaiting ? 'status' : 'alert')
    this.shadowRoot.replaceChildren(line)
  }
  #show(body) {
    this.shadowRoot.replaceChildren(...this.nodes(body))
    tips(this.shadowRoot)
  }

  titleOf(name) {
    return name && this.getAttribute('heading') !== 'none' ? [made('h3', '', name)] : []
  }
}

class WaymarkChart extends Element {
  place() {
    return `insights/${encodeURIComponent(this.getAttribute('insight') ?? '')}`
  }
  nodes({ insight, markup }) {
    return [...this.titleOf(insight?.name), made('div', 'body', ...nodesOf(insight?.markup ?? markup ?? ''))]
  }
}

class WaymarkDashboard extends Element {
  place() {
    return `dashboards/${encodeURIComponent(this.getAttribute('dashboard') ?? '')}`
  }
  nodes({ dashboard }) {
    const isNarrow = dashboard.tiles.every(({ place }) => !place)
    const tiles = dashboard.tiles.map((tile) => {
      const name = tile.insight?.name
      const body = made('div', 'body', ...nodesOf(tile.markup ?? tile.insight?.markup ?? ''))
      const node = made('section', 'tile', ...(name ? [made('h3', '', name)] : []), body)
      node.setAttribute('aria-label', name || 'Text')
      if (tile.place) {
        const { x, y, w, h } = tile.place
        node.style.gridArea = `${y + 1} / ${x + 1} / span ${h} / span ${w}`
      }
      return node
    })
    return [...this.titleOf(dashboard.name), made('div', isNarrow ? 'board narrow' : 'board', ...tiles)]
  }
}

if (!customElements.get('waymark-chart')) customElements.define('waymark-chart', WaymarkChart)
if (!customElements.get('waymark-dashboard')) customElements.define('waymark-dashboard', WaymarkDashboard)
