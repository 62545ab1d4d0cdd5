//! When an exchange took place, and how long its response asks to wait.

use toolcheck_json::Value;

/// How many seconds the response asks to wait, by its `retry-after` header.
pub(super) fn retry_after(exchange: Value<'_, '_>) -> Option<f64> {
    let response = exchange.get("response");
    let beside = exchange.get_any(&["response_headers", "headers"]);
    let headers = response.and_then(|response| response.get("headers")).or(beside)?;
    let header = |name: &str| {
        let is_it =
            |member: &Value<'_, '_>| member.key_text().is_some_and(|key| key.eq_ignore_ascii_case(name));
        let value = headers.members().find(is_it)?;
        number(value.elements().next().unwrap_or(value))
    };
    let seconds = header("retry-after-ms").map(|milliseconds| milliseconds / 1000.0);
    seconds.or_else(|| header("retry-after")).filter(|seconds| *seconds > 0.0)
}

/// When an exchange took place, in seconds since 1970.
pub(super) fn time(exchange: Value<'_, '_>) -> Option<f64> {
    let value = exchange.get_any(&["time", "timestamp", "startedDateTime", "recorded_at"])?;
    match number(value) {
        // Since 2001, a count of seconds has ten digits and one of milliseconds has thirteen.
        Some(milliseconds) if milliseconds > 1e11 => Some(milliseconds / 1000.0),
        Some(seconds) => Some(seconds),
        None => of_date(&value.as_str()?),
    }
}

fn number(value: Value<'_, '_>) -> Option<f64> {
    let text = value.as_str();
    let text = text.as_deref().or_else(|| std::str::from_utf8(value.raw()).ok())?;
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Reads a date and time of RFC 3339, such as `2026-11-21T10:00:00.5Z`.
fn of_date(text: &str) -> Option<f64> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let [year, month, day] = three(date.split('-'))?;
    let zone = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone);
    let mut clock = clock.split(':');
    let (hour, minute) = (clock.next()?.parse::<f64>().ok()?, clock.next()?.parse::<f64>().ok()?);
    let second = clock.next()?.parse::<f64>().ok()?;
    let offset = match zone.trim_start_matches(['Z', 'z']) {
        "" => 0.0,
        zone => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let minutes = hours.parse::<f64>().ok()? * 60.0 + minutes.parse::<f64>().ok()?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let in_range = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let seconds = hour * 3600.0 + (minute - offset) * 60.0 + second;
    in_range.then(|| days(year, month, day) as f64 * 86_400.0 + seconds).filter(|time| time.is_finite())
}

fn three<'t>(mut parts: impl Iterator<Item = &'t str>) -> Option<[i64; 3]> {
    let mut next = || parts.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}

/// The days from 1970 to a day of the Gregorian calendar, with years that begin in March, so that a leap day is the
/// last day of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_log_them() {
        assert_eq!(of_date("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(of_date("2000-03-01T00:00:00Z"), Some(951_868_800.0));
        assert_eq!(of_date("2026-11-21T10:00:00.5Z"), Some(1_795_255_200.5));
        assert_eq!(of_date("2026-11-21T12:00:00.5+02:00"), Some(1_795_255_200.5));
        assert_eq!(of_date("2026-11-21 05:00:00-05:00"), Some(1_795_255_200.0));
        for odd in
            ["", "yesterday", "2026-11-21", "2026-13-41T00:00:00Z", "0-0-0T0:0:0Z", "2026-11-21T10:00:00+9"]
        {
            assert_eq!(of_date(odd), None, "{odd}");
        }
    }
}
