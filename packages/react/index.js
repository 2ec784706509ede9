// <WaymarkChart> and <WaymarkDashboard>: the custom elements of Waymark with the properties and events that React has for them. What they do is in the elements, which the server serves.
import { createElement, useEffect, useRef } from 'react'

const file = '/embed/waymark.js'

/** Once for a page. Rendering on a server loads nothing. */
function load(server) {
  if (customElements.get('waymark-chart')) return
  const src = `${server.replace(/\/+$/, '')}${file}`
  if (document.querySelector(`script[src="${src}"]`)) return
  const script = document.createElement('script')
  script.src = src
  document.head.append(script)
}

/** What is called is always the newest function, and a new one is no reason to ask again. */
function useNewest(values) {
  const newest = useRef(values)
  useEffect(() => {
    newest.current = values
  })
  return newest
}

function useElement(tag, { server, token, tokenProvider, query, dateFrom, dateTo, onLoad, onError, className, ...attributes }) {
  const element = useRef(null)
  const newest = useNewest({ tokenProvider, onLoad, onError })
  const hasProvider = tokenProvider !== undefined
  const asked = query ? JSON.stringify(query) : null
  useEffect(() => {
    if (server) load(server)
  }, [server])
  useEffect(() => {
    element.current.tokenProvider = hasProvider ? () => newest.current.tokenProvider() : null
  }, [hasProvider])
  useEffect(() => {
    element.current.query = asked === null ? null : JSON.parse(asked)
  }, [asked])
  useEffect(() => {
    const { current } = element
    const loaded = ({ detail }) => newest.current.onLoad?.(detail)
    const failed = ({ detail }) => newest.current.onError?.(detail)
    current.addEventListener('waymark-load', loaded)
    current.addEventListener('waymark-error', failed)
    return () => {
      current.removeEventListener('waymark-load', loaded)
      current.removeEventListener('waymark-error', failed)
    }
  }, [])
  return createElement(tag, { ref: element, class: className, server, token, 'date-from': dateFrom, 'date-to': dateTo, ...attributes })
}

export function WaymarkChart(props) {
  return useElement('waymark-chart', props)
}
export function WaymarkDashboard(props) {
  return useElement('waymark-dashboard', props)
}
