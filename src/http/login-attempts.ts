import { failures } from './errors.ts'

const most = 10
const span = 300_000

/** Ten wrong passwords for an address close it for five minutes. */
export const createLoginAttempts = (clock: () => Date) => {
  const failed = new Map<string, number[]>()
  return {
    mustHaveLeft: (address: string): void => {
      const key = address.toLowerCase()
      const now = clock().getTime()
      const recent = (failed.get(key) ?? []).filter((at) => now - at < span && at <= now)
      if (recent.length >= most) throw failures.throttled(Math.ceil((recent[0]! + span - now) / 1000), {})
      recent.push(now)
      failed.delete(key)
      failed.set(key, recent)
      if (failed.size > 10_000) failed.delete(failed.keys().next().value!)
    },
    forgive: (address: string): void => {
      failed.delete(address.toLowerCase())
    },
  }
}
export type LoginAttempts = ReturnType<typeof createLoginAttempts>
