# Installs toolcheck @VERSION@: downloads the program, compares it with the checksum below, and puts it into a folder.
#
#   TOOLCHECK_INSTALL_DIR    the folder; by default %LOCALAPPDATA%\Programs\toolcheck
#   TOOLCHECK_DOWNLOAD_URL   a mirror of the release

$ErrorActionPreference = 'Stop'
# It makes downloads slow in older versions of PowerShell.
$ProgressPreference = 'SilentlyContinue'

# All of it is in a function, so that a script of which only a part was downloaded does nothing.
function Install-Toolcheck {
  $name = '@PACKAGE@-@WINDOWS@-v@VERSION@'
  $sum = '@SUM_WINDOWS@'
  $url = if ($env:TOOLCHECK_DOWNLOAD_URL) { $env:TOOLCHECK_DOWNLOAD_URL } else { '@URL@' }
  $folder = if ($env:TOOLCHECK_INSTALL_DIR) { $env:TOOLCHECK_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\toolcheck' }
  $temporary = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString())
  New-Item -ItemType Directory -Path $temporary | Out-Null
  try {
    $archive = Join-Path $temporary 'archive.zip'
    Invoke-WebRequest -UseBasicParsing -Uri "$url/$name.zip" -OutFile $archive
    $found = (Get-FileHash -Algorithm SHA256 -Path $archive).Hash.ToLowerInvariant()
    if ($found -ne $sum) { throw "$name.zip has the checksum $found and not ${sum}: nothing was installed" }
    Expand-Archive -Path $archive -DestinationPath $temporary
    New-Item -ItemType Directory -Force -Path $folder | Out-Null
    Copy-Item -Force -Path (Join-Path $temporary "$name/toolcheck.exe") -Destination $folder
  } finally {
    Remove-Item -Recurse -Force -Path $temporary
  }
  Write-Output "toolcheck @VERSION@ is in $folder"
  if (($env:PATH -split [IO.Path]::PathSeparator) -notcontains $folder) { Write-Output "Add $folder to the PATH." }
}

Install-Toolcheck
