import { SqlError } from '../statements/sql-error.ts'
import { isZone } from '../translation/texts.ts'

// What SET changes and SHOW tells. Most settings are kept and change nothing.

/** Told to the client when the session begins, and when they change. */
const reported = [
  'server_version',
  'server_encoding',
  'client_encoding',
  'application_name',
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
  'integer_datetimes',
  'standard_conforming_strings',
  'is_superuser',
  'session_authorization',
  'default_transaction_read_only',
  'in_hot_standby',
] as const

const fixed: ReadonlySet<string> = new Set([
  'server_version',
  'server_version_num',
  'server_encoding',
  'integer_datetimes',
  'is_superuser',
  'in_hot_standby',
  'max_identifier_length',
  'block_size',
  'lc_collate',
  'lc_ctype',
  'max_index_keys',
])
const readOnlyNames: ReadonlySet<string> = new Set(['transaction_read_only', 'default_transaction_read_only'])
/** Settings of one session, so that nobody fills the memory with names. */
const most = 200
const longest = 1000

const serverVersion = '15.8'

const shownAs: Readonly<Record<string, string>> = { timezone: 'TimeZone', datestyle: 'DateStyle', intervalstyle: 'IntervalStyle' }
const nameOf = (name: string): string => {
  const lower = name.toLowerCase()
  return lower === 'time zone' ? 'timezone' : lower
}

/** Milliseconds of `statement_timeout`: `1000`, `5s`, `2min`. */
function millisecondsOf(text: string): number {
  const [, number, unit = 'ms'] = /^(\d{1,12}) {0,2}(ms|s|min|h)?$/.exec(text.trim()) ?? []
  if (number === undefined) throw new SqlError('22023', `invalid value for parameter "statement_timeout": "${text}"`)
  return Number(number) * { ms: 1, s: 1000, min: 60_000, h: 3_600_000 }[unit as 'ms' | 's' | 'min' | 'h']!
}

export class Settings {
  private readonly values = new Map<string, string>()
  private readonly begun = new Map<string, string>()
  private readonly onChange: (name: string, value: string) => void

  constructor(user: string, zone: string, onChange: (name: string, value: string) => void) {
    this.onChange = onChange
    const defaults = {
      server_version: serverVersion,
      server_version_num: '150008',
      server_encoding: 'UTF8',
      client_encoding: 'UTF8',
      application_name: '',
      datestyle: 'ISO, MDY',
      intervalstyle: 'postgres',
      timezone: zone,
      integer_datetimes: 'on',
      standard_conforming_strings: 'on',
      is_superuser: 'off',
      session_authorization: user,
      default_transaction_read_only: 'on',
      transaction_read_only: 'on',
      in_hot_standby: 'off',
      search_path: '"$user", public',
      transaction_isolation: 'read committed',
      default_transaction_isolation: 'read committed',
      extra_float_digits: '1',
      statement_timeout: '0',
      lock_timeout: '0',
      idle_in_transaction_session_timeout: '0',
      max_identifier_length: '63',
      max_index_keys: '32',
      block_size: '8192',
      lc_collate: 'C.UTF-8',
      lc_ctype: 'C.UTF-8',
      bytea_output: 'hex',
      client_min_messages: 'notice',
      row_security: 'on',
      escape_string_warning: 'on',
      work_mem: '4MB',
      ssl: 'on',
      wal_level: 'replica',
      server_name: 'waymark',
    }
    for (const [name, value] of Object.entries(defaults)) {
      this.values.set(name, value)
      this.begun.set(name, value)
    }
  }

  get zone(): string {
    return this.values.get('timezone')!
  }

  /** 0: none. */
  get timeoutMs(): number {
    return millisecondsOf(this.values.get('statement_timeout')!)
  }

  reports(): readonly (readonly [string, string])[] {
    return reported.map((name) => [name, this.values.get(name.toLowerCase())!])
  }

  all(): readonly (readonly [string, string])[] {
    return [...this.values].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  get(name: string): string {
    const value = this.values.get(nameOf(name))
    if (value === undefined) throw new SqlError('42704', `unrecognized configuration parameter "${name}"`)
    return value
  }

  set(given: string, value: string): void {
    const name = nameOf(given)
    if (fixed.has(name)) throw new SqlError('55P02', `parameter "${name}" cannot be changed`)
    if (readOnlyNames.has(name) && /^(off|false|no|0)$/i.test(value)) throw new SqlError('25006', 'this server is read-only')
    if (name === 'client_encoding' && !/^(utf-?8|unicode)$/i.test(value))
      throw new SqlError('22023', `invalid value for parameter "client_encoding": "${value}"`, { hint: 'Texts are sent as UTF8 only.' })
    if (name === 'timezone') {
      this.setZone(value)
      return
    }
    if (name === 'statement_timeout') millisecondsOf(value)
    if (value.length > longest || name.length > 100 || (!this.values.has(name) && this.values.size >= most))
      throw new SqlError('53400', 'too many or too long settings')
    this.put(name, name === 'client_encoding' ? 'UTF8' : value)
  }

  private setZone(value: string): void {
    const zone = /^(default|local)$/i.test(value) ? this.begun.get('timezone')! : value
    // Offsets by the hour are zones, too; their sign is the other way round there.
    const hours = /^([+-]?)(\d{1,2})$/.exec(zone)
    const known = hours ? `Etc/GMT${hours[1] === '-' ? '+' : '-'}${Number(hours[2])}` : zone
    if (!isZone(known)) throw new SqlError('22023', `invalid value for parameter "TimeZone": "${value}"`)
    this.put('timezone', known === 'Etc/GMT-0' ? 'UTC' : known)
  }

  private put(name: string, value: string): void {
    this.values.set(name, value)
    const told = reported.find((one) => one.toLowerCase() === name)
    if (told) this.onChange(told, value)
  }

  reset(given?: string): void {
    const names = given === undefined ? [...this.values.keys()] : [nameOf(given)]
    for (const name of names) {
      const value = this.begun.get(name)
      if (value === undefined) this.values.delete(name)
      else if (this.values.get(name) !== value) this.put(name, value)
    }
  }

  static shown(name: string): string {
    return shownAs[nameOf(name)] ?? nameOf(name)
  }
}
