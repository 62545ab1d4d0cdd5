//! The date and the time that a template is told.

use std::time::{SystemTime, UNIX_EPOCH};

/// The date and the time that `strftime_now` of a template writes, in UTC unless the caller chose another zone.
///
/// ```
/// use toolcheck_template::Now;
///
/// let now = Now::from_unix(1_764_163_200);
/// assert_eq!((now.year, now.month, now.day, now.hour), (2025, 11, 26, 13));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The year.
    pub year: i32,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
    /// The hour, from 0 to 23.
    pub hour: u8,
    /// The minute.
    pub minute: u8,
    /// The second.
    pub second: u8,
}

const MONTHS: &str = "January February March April May June July August September October November December";
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Now {
    /// The time of the system.
    pub fn of_system() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_unix(i64::try_from(since.as_secs()).unwrap_or(0))
    }

    /// So many seconds after the beginning of 1970.
    pub fn from_unix(seconds: i64) -> Self {
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Eras of 400 years that begin in March, so that the day of a leap year is the last.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year: year as i32,
            month: month as u8,
            day: day as u8,
            hour: (second / 3600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
        }
    }

    fn day_of_year(self) -> u32 {
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        let is_leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let month = usize::from(self.month.clamp(1, 12)) - 1;
        before[month] + u32::from(self.day) + u32::from(is_leap && month > 1)
    }

    /// The day of the week, from 0 for Monday.
    fn weekday(self) -> usize {
        let year = i64::from(self.year) - 1;
        let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        (days + i64::from(self.day_of_year()) - 1).rem_euclid(7) as usize
    }

    /// What `strftime` returns; `None` for a format that is not known.
    pub(crate) fn format(self, format: &str) -> Option<String> {
        let mut text = String::new();
        let mut rest = format.chars();
        while let Some(character) = rest.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            let mut code = rest.next();
            let is_bare = code == Some('-');
            if is_bare {
                code = rest.next();
            }
            let written = self.part(code?)?;
            text.push_str(if is_bare { written.trim_start_matches(['0', ' ']) } else { &written });
        }
        Some(text)
    }

    fn part(self, code: char) -> Option<String> {
        let mut months = MONTHS.split(' ');
        let month = months.nth(usize::from(self.month.clamp(1, 12)) - 1).unwrap_or_default();
        let day = DAYS[self.weekday()];
        let hour = if self.hour.is_multiple_of(12) { 12 } else { self.hour % 12 };
        Some(match code {
            'Y' => self.year.to_string(),
            'y' => format!("{:02}", self.year.rem_euclid(100)),
            'm' => format!("{:02}", self.month),
            'd' => format!("{:02}", self.day),
            'e' => format!("{:2}", self.day),
            'B' => month.to_owned(),
            'b' | 'h' => month[..3].to_owned(),
            'A' => day.to_owned(),
            'a' => day[..3].to_owned(),
            'H' => format!("{:02}", self.hour),
            'I' => format!("{hour:02}"),
            'M' => format!("{:02}", self.minute),
            'S' => format!("{:02}", self.second),
            'p' => if self.hour < 12 { "AM" } else { "PM" }.to_owned(),
            'j' => format!("{:03}", self.day_of_year()),
            'u' => (self.weekday() + 1).to_string(),
            'w' => ((self.weekday() + 1) % 7).to_string(),
            'F' => format!("{}-{:02}-{:02}", self.year, self.month, self.day),
            'T' | 'X' => format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second),
            'R' => format!("{:02}:{:02}", self.hour, self.minute),
            'D' | 'x' => format!("{:02}/{:02}/{:02}", self.month, self.day, self.year.rem_euclid(100)),
            'f' => "000000".to_owned(),
            'Z' | 'z' => String::new(),
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        })
    }
}
