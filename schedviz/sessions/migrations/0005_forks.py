import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduling", "0004_stories_and_breakpoints"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # It had one row for each session, number 0, and nothing refers to it.
        migrations.DeleteModel(name="Branch"),
        migrations.RemoveConstraint(
            model_name="chunk",
            name="chunk_once",
        ),
        migrations.RemoveConstraint(
            model_name="command",
            name="command_seq_once",
        ),
        migrations.RemoveConstraint(
            model_name="cycledetail",
            name="detail_once",
        ),
        migrations.RemoveConstraint(
            model_name="cyclesummary",
            name="cycle_once",
        ),
        migrations.RemoveConstraint(
            model_name="extenderanswer",
            name="extender_answer_once",
        ),
        migrations.RemoveIndex(
            model_name="checkpoint",
            name="checkpoint_newest",
        ),
        migrations.RemoveIndex(
            model_name="chunk",
            name="chunk_of_event",
        ),
        migrations.RemoveField(
            model_name="checkpoint",
            name="branch",
        ),
        migrations.RemoveField(
            model_name="chunk",
            name="branch",
        ),
        migrations.RemoveField(
            model_name="command",
            name="branch",
        ),
        migrations.RemoveField(
            model_name="cycledetail",
            name="branch",
        ),
        migrations.RemoveField(
            model_name="cyclesummary",
            name="branch",
        ),
        migrations.RemoveField(
            model_name="extenderanswer",
            name="branch",
        ),
        migrations.AddField(
            model_name="session",
            name="fork_cycle",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="session",
            name="fork_event",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="session",
            name="fork_key",
            field=models.CharField(blank=True, default="", max_length=200),
        ),
        migrations.AddField(
            model_name="session",
            name="forked_from",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="forks", to="scheduling.session"
            ),
        ),
        migrations.AddIndex(
            model_name="checkpoint",
            index=models.Index(fields=["session", "complete", "-event"], name="checkpoint_newest"),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=models.Index(fields=["session", "last_event"], name="chunk_of_event"),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.UniqueConstraint(fields=("session", "number"), name="chunk_once"),
        ),
        migrations.AddConstraint(
            model_name="command",
            constraint=models.UniqueConstraint(fields=("session", "seq"), name="command_seq_once"),
        ),
        migrations.AddConstraint(
            model_name="cycledetail",
            constraint=models.UniqueConstraint(fields=("session", "cycle"), name="detail_once"),
        ),
        migrations.AddConstraint(
            model_name="cyclesummary",
            constraint=models.UniqueConstraint(fields=("session", "cycle"), name="cycle_once"),
        ),
        migrations.AddConstraint(
            model_name="extenderanswer",
            constraint=models.UniqueConstraint(fields=("session", "event"), name="extender_answer_once"),
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(
                condition=models.Q(("fork_key", ""), _negated=True), fields=("forked_from", "owner", "fork_key"), name="fork_key_once"
            ),
        ),
    ]
