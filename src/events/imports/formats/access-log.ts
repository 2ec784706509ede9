import { parsedUrl } from '../../../lib/web/parsed-url.ts'
import { type Converted, problem } from '../record.ts'

// address identity user [time] "method path protocol" status bytes ["referrer" "agent"]
const combined = /^(\S+) \S+ (\S+) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/
const clf = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const unquoted = (text: string) => text.replace(/\\(["\\])/g, '$1')

export const isAccessLogLine = (line: string): boolean => combined.test(line)

/** A line of a web server's combined (or common) log is a `$pageview` of the address, or of the user if the server knew one. */
export function accessLogEvent(line: string): Converted {
  const match = combined.exec(line)
  if (!match) return problem('not a line of an access log')
  const [, address, user, time, request, status, bytes, referrer, agent] = match
  const parts = clf.exec(time!)
  const month = parts ? months.indexOf(parts[2]!) : -1
  if (!parts || month < 0) return problem(`unreadable time: ${time}`)
  const [method, path, protocol] = unquoted(request!).split(' ')
  const isPath = path !== undefined
  const properties: Record<string, unknown> = {
    $ip: address,
    $current_url: isPath ? path : unquoted(request!),
    $pathname: isPath ? path.split(/[?#]/, 1)[0] : unquoted(request!),
    method: isPath ? method : null,
    protocol: protocol ?? null,
    status: Number(status),
    bytes: bytes === '-' ? 0 : Number(bytes),
  }
  if (referrer && referrer !== '-') {
    properties.$referrer = unquoted(referrer)
    properties.$referring_domain = parsedUrl(unquoted(referrer))?.host ?? null
  }
  if (agent && agent !== '-') properties.$raw_user_agent = unquoted(agent)
  const timestamp = `${parts[3]}-${String(month + 1).padStart(2, '0')}-${parts[1]}T${parts[4]}${parts[5]}:${parts[6]}`
  return [{ event: '$pageview', distinct_id: user !== '-' ? user! : address!, timestamp, properties }]
}
