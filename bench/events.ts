import { random } from './random.ts'

export interface BenchEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, string | number | boolean>>
}

const names = ['$pageview', '$autocapture', 'signed up', 'added to cart', 'purchase', 'invited', 'exported']
const browsers = ['Chrome', 'Safari', 'Firefox', 'Edge']
const systems = ['Mac OS X', 'Windows', 'Linux', 'iOS', 'Android']
const plans = ['free', 'pro', 'enterprise']
const hex = (draw: () => number, length: number) => Array.from({ length }, () => Math.floor(draw() * 16).toString(16)).join('')
const from = Date.UTC(2026, 0, 1)
const day = 86_400_000

/** Events with 14 properties, 340 bytes as JSON, spread over 90 days. The same numbers make the same events. */
export function makeEvents(count: number, people: number, seed = 1): BenchEvent[] {
  const draw = random(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(draw() * values.length)]!
  return Array.from({ length: count }, () => {
    const page = Math.floor(draw() * 200)
    const properties: Record<string, string | number | boolean> = {
      $browser: pick(browsers),
      $browser_version: 100 + Math.floor(draw() * 30),
      $os: pick(systems),
      $current_url: `https://app.example.com/section/${page}/item/${Math.floor(draw() * 1000)}`,
      $pathname: `/section/${page}`,
      $session_id: hex(draw, 24),
      $lib: 'web',
      $screen_width: pick([390, 1280, 1440, 1920]),
      plan: pick(plans),
      amount: Math.round(draw() * 10_000) / 100,
      items: Math.floor(draw() * 9),
      is_trial: draw() < 0.3,
      country: pick(['DE', 'US', 'FR', 'IN', 'BR']),
      note: '',
    }
    properties.note = 'x'.repeat(Math.max(0, 340 - Buffer.byteLength(JSON.stringify(properties))))
    return {
      event: pick(names),
      distinct_id: `user-${Math.floor(draw() * people)}`,
      timestamp: new Date(from + Math.floor(draw() * 90 * day)).toISOString(),
      properties,
    }
  })
}

const devices = ['Desktop', 'Mobile', 'Tablet']

/** Page views as a browser sends them: nearly each one changes its person. Half of them are of a tenth of the people. */
export function makeWebEvents(count: number, people: number, seed = 1): BenchEvent[] {
  const draw = random(seed)
  return Array.from({ length: count }, () => {
    const who = Math.floor(draw() * (draw() < 0.5 ? people / 10 : people))
    const page = Math.floor(draw() * 997)
    return {
      event: draw() < 0.67 ? '$pageview' : '$autocapture',
      distinct_id: `018f-${who}`,
      timestamp: new Date(from + Math.floor(draw() * 90 * day)).toISOString(),
      properties: {
        $current_url: `https://example.com/p/${page}`,
        $host: 'example.com',
        $pathname: `/p/${page}`,
        $browser: browsers[who % browsers.length]!,
        $browser_version: 120 + (who % 7),
        $os: systems[who % systems.length]!,
        $device_type: devices[who % devices.length]!,
        $screen_width: 1920,
        $screen_height: 1080,
        $referrer: '$direct',
        $session_id: `s${who}-${page % 8}`,
        $lib: 'web',
        $lib_version: '1.200.0',
        $insert_id: hex(draw, 16),
      },
    }
  })
}
