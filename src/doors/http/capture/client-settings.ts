import type { Json } from '../../../service/accounts/store.ts'

/** The settings of a project that decide what its client libraries record, as they expect them. */
export function clientSettings(settings: Readonly<Record<string, Json>>) {
  const isOn = (name: string) => settings[name] === true
  return {
    capturePerformance: isOn('capture_performance_opt_in')
      ? { network_timing: true, web_vitals: isOn('autocapture_web_vitals_opt_in') }
      : isOn('autocapture_web_vitals_opt_in') && { network_timing: false, web_vitals: true },
    autocapture_opt_out: isOn('autocapture_opt_out'),
    captureDeadClicks: isOn('capture_dead_clicks'),
    autocaptureExceptions: isOn('autocapture_exceptions_opt_in') && { endpoint: '/e/' },
    sessionRecording: isOn('session_recording_opt_in') && {
      endpoint: '/s/',
      consoleLogRecordingEnabled: isOn('capture_console_log_opt_in'),
      sampleRate: settings.session_recording_sample_rate ?? null,
      minimumDurationMilliseconds: settings.session_recording_minimum_duration_milliseconds ?? null,
      linkedFlag: settings.session_recording_linked_flag ?? null,
      networkPayloadCapture: settings.session_recording_network_payload_capture_config ?? null,
    },
    surveys: isOn('surveys_opt_in'),
    heatmaps: isOn('heatmaps_opt_in'),
  }
}
