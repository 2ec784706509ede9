// Page views of a site whose visitors get no cookie and nothing in the storage of their browser:
//
//   <script defer src="https://analytics.example.com/static/waymark.js" data-key="phc_…"></script>
//
// Events have the form that posthog-js sends with `cookieless_mode: 'always'`, so the server counts visitors in the same way. The build makes it small.
;(() => {
  const doc = document
  const nav = navigator
  const script = doc.currentScript || doc.querySelector('script[data-key][src*="/static/waymark.js"]')
  const { key, respectDnt } = script.dataset
  const agent = nav.userAgent
  const early = window.waymark?.q || []

  const first = (pairs) => (pairs.find(([, pattern]) => pattern.test(agent)) || [])[0]
  // Each browser also has the names of those after it.
  const browser = first([
    ['Microsoft Edge', /Edg/],
    ['Opera', /OPR|Opera/],
    ['Samsung Internet', /SamsungB/],
    ['Firefox iOS', /FxiOS/],
    ['Chrome iOS', /CriOS/],
    ['Firefox', /Firefox/],
    ['Chrome', /Chrom/],
    ['Mobile Safari', /Mobile.*Safari/],
    ['Safari', /Safari/],
  ])
  const os = first([
    ['Windows', /Windows/],
    ['iOS', /iP(hone|ad|od)/],
    ['Android', /Android/],
    ['Mac OS X', /Mac/],
    ['Chrome OS', /CrOS/],
    ['Linux', /Linux/],
  ])
  const device = first([
    ['Tablet', /iPad|Tablet|Android(?!.*Mobile)/],
    ['Mobile', /Mobi/],
    ['Desktop', /./],
  ])

  const isQuiet =
    !key ||
    (respectDnt !== undefined && (nav.doNotTrack === '1' || nav.globalPrivacyControl)) ||
    nav.webdriver ||
    /bot|crawl|spider|headless|lighthouse/i.test(agent)

  const hostOf = (address) => {
    try {
      return new URL(address).host
    } catch {
      return '$direct'
    }
  }

  const send = (event, properties) => {
    if (isQuiet || !event) return
    const place = location
    const all = {
      $lib: 'waymark.js',
      $cookieless_mode: true,
      $process_person_profile: false,
      $current_url: place.href,
      $host: place.host,
      $pathname: place.pathname,
      title: doc.title,
      $referrer: doc.referrer || '$direct',
      $referring_domain: hostOf(doc.referrer),
      $browser: browser,
      $os: os,
      $device_type: device,
      $browser_language: nav.language,
      $timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      $timezone_offset: new Date().getTimezoneOffset(),
      $screen_width: screen.width,
      $screen_height: screen.height,
      $viewport_width: innerWidth,
      $viewport_height: innerHeight,
    }
    // What campaigns add to an address.
    for (const [name, value] of new URLSearchParams(place.search)) if (/^(utm_\w+|\w*clid|gad_source)$/.test(name)) all[name] = value
    fetch(new URL('../i/v0/e/', script.src), {
      method: 'POST',
      keepalive: true,
      credentials: 'omit',
      // Without a content type that would need a question before it.
      body: JSON.stringify({ api_key: key, event, distinct_id: '$posthog_cookieless', properties: Object.assign(all, properties) }),
    }).catch(() => {})
  }

  let shown
  const view = () => {
    if (shown === location.pathname) return
    shown = location.pathname
    send('$pageview')
  }
  for (const name of ['pushState', 'replaceState']) {
    const change = history[name]
    history[name] = function (...given) {
      change.apply(this, given)
      view()
    }
  }
  addEventListener('popstate', view)

  // `data-waymark-event="signup" data-waymark-plan="pro"`
  const sendNamed = (element) => {
    const properties = {}
    for (const { name, value } of element.attributes)
      if (name.startsWith('data-waymark-')) properties[name.slice(13).replace(/-/g, '_')] = value
    const { event } = properties
    delete properties.event
    send(event, properties)
  }
  const named = '[data-waymark-event]'
  const clicked = (event) => {
    const { target, button } = event
    if (!target.closest || button > 1) return
    const link = target.closest('a[href]')
    const element = target.closest(named)
    if (element && !element.matches('form')) sendNamed(element)
    if (link && /^http/.test(link.protocol) && link.host !== location.host)
      send('$autocapture', { $event_type: 'click', $external_click_url: link.href })
  }
  doc.addEventListener('click', clicked, true)
  doc.addEventListener('auxclick', clicked, true)
  doc.addEventListener('submit', ({ target }) => target.matches(named) && sendNamed(target), true)

  window.waymark = send
  const begin = () => {
    view()
    for (const given of early) send(...given)
  }
  if (doc.prerendering) doc.addEventListener('prerenderingchange', begin, { once: true })
  else begin()
})()
