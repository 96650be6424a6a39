//! The campaigns on the page Fleet of `plateau serve`.

use ::fleet::{Job, State};
use cluster::{Survey, Surveyor, Whose};
use lab::{Campaign, CampaignJob, ReadCampaigns};
use record::Library;

use crate::cli::Serve;
use crate::failure::Done;

/// Returns the function that reads the campaigns of a server. The server's user need not be the user who submitted them.
pub fn shown(options: &Serve, library: &Library) -> Done<ReadCampaigns> {
    let surveyor = |campaign: &std::path::PathBuf| -> Done<Surveyor> {
        let [campaign, inventory, logs] =
            [campaign, &options.inventory, &options.logs].map(std::path::absolute);
        Ok(Surveyor::of(campaign?, inventory?, logs?, library.clone(), Whose::Everyones))
    };
    let all = options.campaign.iter().map(surveyor).collect::<Done<Vec<_>>>()?;
    let read = |surveyor: &Surveyor| match surveyor.survey() {
        Ok(survey) => Ok(of_survey(survey)),
        Err(failure) => Err(failure.message()),
    };
    Ok(Box::new(move || all.iter().map(read).collect()))
}

fn of_survey(survey: Survey) -> Campaign {
    let job = |(job, state): (Job, State)| CampaignJob {
        run: job.id,
        place: format!("{}:{}", job.drive.host, job.drive.path),
        drive: job.drive.identity,
        state: state.word,
        detail: state.detail,
    };
    Campaign { name: survey.name, note: survey.note, jobs: survey.jobs.into_iter().map(job).collect() }
}
